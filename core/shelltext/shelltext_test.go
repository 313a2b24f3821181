package shelltext

import (
	"bytes"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Every form starts the same command.
func TestFormsOfOneCommand(t *testing.T) {
	for _, text := range []string{
		"rm -rf x", `\rm -rf x`, "r''m -rf x", `"rm" '-rf' x`, `$'\x72m' -rf x`, "{rm,-rf,x}", "r\\\nm -rf x", "/bin/rm -rf x", "sudo rm -rf x", "sudo -u bob -- rm -rf x",
		"sudo -nu bob A=b rm -rf x", "env -i A=b rm -rf x", "env -S 'rm -rf x'", "nice -n 5 rm -rf x", "nice -5 rm -rf x", "timeout -k 1 5 rm -rf x", "xargs -0n 1 rm -rf x", "xargs -I{} rm -rf x",
		"sh -c 'rm -rf x'", "bash -lc 'cd y; rm -rf x'", "bash -O extglob -c 'rm -rf x'", "bash -c -e 'rm -rf x'", "su bob -c 'rm -rf x'", "eval rm '-rf x'", "trap 'rm -rf x' EXIT", "find . -exec rm -rf x ';'",
		"$(rm -rf x)", "f() { rm -rf x; }", "ls | { rm -rf x; }", "command rm -rf x", "busybox rm -rf x", "flock /tmp/l rm -rf x", "flock /tmp/l -c 'rm -rf x'", "watch rm -rf x",
		"strace -f -o /tmp/t rm -rf x", "stdbuf -oL rm -rf x", "chroot /x rm -rf x", "doas -u bob rm -rf x", "rm -rf x &", "nohup nice sudo sh -c 'env rm -rf x' &", "time -p rm -rf x", "setarch x86_64 -R rm -rf x",
	} {
		list, err := Commands(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		found := false
		for _, c := range list {
			if len(c.Words) >= 3 && strings.HasSuffix(c.Words[0].Text, "rm") && c.Words[1].Text == "-rf" && c.Words[2].Text == "x" {
				found = true
			}
		}
		if !found {
			t.Errorf("%q: %+v", text, list)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"a $HOME/x": "a ~/x", "a ~/x": "a ~/x", `a "${HOME}"`: "a ~", "a '$HOME'": "a $HOME", "a ~bob/x": "a \x00/x", "a $X": "a \x00", "a b*": "a b\x00", `a \$X`: "a $X", `a "\$X\"` + `"`: `a $X"`,
		"a ${HOME:-x}": "a \x00", "a {1,2}": "a 1 2", "a {1..9999999}": "a \x00", "a $'\\n'": "a \n", "a \"b c\"": "a b c",
	} {
		list, err := Commands(text)
		if err != nil || len(list) != 1 || Join(list[0].Words) != want {
			t.Errorf("%q: %+v, %v", text, list, err)
		}
	}
}

func TestWhatCannotBeJudgedIsSaid(t *testing.T) {
	for text, check := range map[string]func(Started) bool{
		"env -S 'rm x'":        func(s Started) bool { return s.Splits },
		"env --split='rm x'":   func(s Started) bool { return s.Splits },
		"sudo $OPT rm x":       func(s Started) bool { return len(s.Commands) == 1 && !s.Commands[0][0].Known() },
		"sudo -$X rm x":        func(s Started) bool { return s.Vague },
		"sh -c \"$X\"":         func(s Started) bool { return len(s.Scripts) == 1 && !s.Scripts[0].Text.Known() },
		"sudo A=b ls":          func(s Started) bool { return s.Rights && len(s.Assigns) == 1 && len(s.Commands) == 1 },
		"nohup ls":             func(s Started) bool { return s.Only && !s.Rights },
		"strace ls":            func(s Started) bool { return s.Itself && !s.Only },
		"sh script":            func(s Started) bool { return len(s.Scripts)+len(s.Commands) == 0 },
		"sh -c 'a \"$@\"' _ b": func(s Started) bool { return len(s.Scripts[0].Args) == 1 },
	} {
		list, err := Commands(text)
		if err != nil || !check(Starts(list[0].Words)) {
			t.Errorf("%q: %+v, %v", text, Starts(list[0].Words), err)
		}
	}
}

// TestWrapperTable reads the table as its author may get it wrong.
func TestWrapperTable(t *testing.T) {
	var list []*Wrapper
	dec := yaml.NewDecoder(bytes.NewReader(wrapperTable))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, w := range list {
		for name := range strings.FieldsSeq(w.Names) {
			if seen[name] {
				t.Errorf("%s stands there twice", name)
			}
			seen[name] = true
		}
		for token := range strings.FieldsSeq(w.Values + " " + w.Feeds + " " + w.Splits) {
			if r, ok := ReadRule(token, "value"); !ok || r.takes == 0 {
				t.Errorf("%s: %q is no option with a value", w.Names, token)
			}
		}
	}
}

func FuzzCommands(f *testing.F) {
	for _, s := range []string{"sudo rm x", "sh -c 'sh -c \"rm\"'", "{a,b}{c,d}", "env -S x", "find . -exec", "xargs -I", "$'\\x'", "trap --", "coproc x", "a &", "flock -c"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		list, err := Commands(text)
		if err != nil {
			return
		}
		for _, c := range list {
			if len(c.Words) > 0 {
				Starts(c.Words)
			}
		}
	})
}
