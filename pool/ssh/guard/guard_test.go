package guard

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func rules(t testing.TB, allowed, denied string) *Rules {
	t.Helper()
	r, err := New(lines(allowed), lines(denied))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func lines(s string) (out []string) {
	for _, l := range strings.Split(s, "|") {
		if l != "" {
			out = append(out, l)
		}
	}
	return out
}

// What a list allows and what it does not.
func TestAllowed(t *testing.T) {
	const list = "git *|ls|df -h|kubectl get pods|/opt/tool/run *|journalctl -u *|grep|cat|sudo systemctl restart *|make test-?"
	r := rules(t, list, "")
	for _, ok := range []string{
		"git status", "git", "git log --oneline | cat", "ls", "ls -la /tmp", "ls *.go", "df -h", "kubectl get pods", "/opt/tool/run", "/opt/tool/run a b",
		"/usr/bin/git status", "journalctl -u sshd", "git commit -m 'a b; rm -rf /'", `git commit -m "$(git log -1)"`, "git status && ls; cat x || ls &",
		"cd repo && git pull", "for f in *; do cat \"$f\"; done", "if git diff --quiet; then echo clean; fi", "X=1 git status", "X=1", "nohup git gc &",
		"env A=b git status", "env -u HOME A=b git status", "env -i git status", "nice -n 5 ls", "nice ls", "timeout -k 3 10 git fetch", "timeout 10 git fetch", "time git gc",
		"ls | xargs cat", "ls | xargs -n 1 -P4 cat", "ls | xargs -I{} cat {}", "sh -c 'git status; ls'", "bash -lc 'git status'", "bash -e -c 'ls' x y",
		"sh -c 'sh -c \"sh -c ls\"'", "eval 'git status'", "eval git status", "command git status", "exec git status", "stdbuf -oL git log", "setsid git gc",
		"sudo systemctl restart nginx", "make test-1", "g\"i\"t status", `g\it status`, "'git' status", "git status # rm -rf /", "git log <<< rm", "cat <<EOF\nrm -rf /\nEOF",
		"trap 'ls' EXIT; git gc", "[[ -f x ]] && cat x", "exec >log 2>&1; git gc", "while read -r line; do echo $line; done", "git $X", "", `sh -c 'exec "$@" >&3' sh git status`, `bash -ec 'cd x; "$@"' _ git log`, `sh -c 'ls "$@"' _ x`,
	} {
		if err := r.Command(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, no := range []string{
		"rm -rf /", "gitx status", "git status; rm x", "git status && rm x", "git status | sh", "git log | xargs rm", "df", "df -a", "df -h /", "kubectl get pods -A",
		"kubectl get $X", "kubectl get 'pods x'", "tool", "/tmp/evil/git status", "./git status", "/usr/bin/../../tmp/git x", "~/git x", "$CMD", "$(echo git) status", "`echo git` x",
		"git commit -m \"$(rm x)\"", "git commit -m `rm x`", "ls <(rm x)", "cat <<EOF\n$(rm x)\nEOF", "X=$(rm x)", "f() { rm x; }; git", "( rm x )", "{ rm x; }",
		"if rm x; then ls; fi", "env rm x", "env -S 'git status'", "env --split-string='rm x' ls", "sudo rm x", "sudo git status", "sudo -u bob systemctl restart x", "sudo systemctl stop x",
		"nohup rm x", "timeout 10 rm x", "timeout -s KILL 10 rm x", "sh -c 'rm x'", "sh -c \"$X\"", "bash -xec 'rm x'", "sh script", "sh", "ls | bash", "eval \"$X\"", "eval 'rm x'",
		"exec rm x", "command rm x", "busybox rm x", "xargs rm", "find . -delete", "find . -exec rm {} ;", "PATH=/tmp git status", "PATH=/tmp; git status", "export PATH=/tmp; git status",
		"LD_PRELOAD=/tmp/x.so git status", "env PATH=/tmp git status", "read PATH <<< /tmp; git", "printf -v PATH /tmp; git", ": ${PATH:=/tmp}", "for PATH in /tmp; do git; done",
		"{rm,-rf,/}", "/bin/r?", "alias git=rm", "source x", ". x", "make test-12", "make test-$X", "git 'unclosed", "git status )", "if git", "trap 'rm x' EXIT", "su -c 'git status'",
		"ssh host git status", "GIT_SSH_COMMAND=rm git fetch", "bash --rcfile x -c 'rm x'", "coproc rm x", "time rm x", "! rm x", `sh -c '"$@"' sh rm x`, `sh -c '"$@"' git rm x`, `sh -c 'shift; "$@"' sh git rm x`, `sh -c 'set -- rm; "$@"' sh git`, `sh -c '"$@"' sh`, `sh -c '"$@"' sh "$X"`,
		`sh -c 'x"$@"' sh git`, `sh -c '$@' sh git`, `sh -c '"${@:2}"' sh git rm`, `sh -c 'f() { "$@"; }; f rm' sh git`, `sh -c 's=shift; $s; "$@"' sh git rm`, `sh -c 'command shift; "$@"' sh git rm`, "ls & rm x", "$'\\x72m' x", "ls | xargs -I{} {} x",
	} {
		var refused *Refused
		if err := r.Command(no); !errors.As(err, &refused) {
			t.Errorf("%q was let through: %v", no, err)
		}
	}
}

// What a list of denied commands stops, when nothing else is listed.
func TestDenied(t *testing.T) {
	r := rules(t, "", "rm|git push *|shutdown|* --force|mkfs*|/opt/x")
	for _, ok := range []string{
		"ls", "git status", "git pull", "echo rm", "grep rm x", "git 'pushy'", "sudo ls", "PATH=/x ls", "python3 -c 'print(1)'", "rmdir x", "find . -name rm",
		"sh script", "opt/x", "x",
	} {
		if err := r.Command(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, no := range []string{
		"rm x", "rm", "/bin/rm x", "/tmp/rm", "../rm x", `\rm x`, "r''m x", "sudo rm x", "sudo -u bob -- rm x", "env A=b rm x", "nohup nice -n 3 rm x", "sh -c 'ls; rm x'",
		"ls; rm x", "ls && (cd /; rm x)", "echo $(rm x)", "find . -exec rm {} +", "find . -execdir sudo rm {} ;", "find . -exec {} ;", "ls | xargs rm", "ls | xargs -I% sh -c 'rm %'", "git push", "git push origin main",
		"git   push", "git $X", "git p*", "git \"pu\"sh", "echo push | xargs git", "$X", "$(which rm) x", "git pull --force", "x --force", "mkfs.ext4 /dev/sda", "sudo mkfs /dev/sda", "/opt/x",
		"eval rm x", "eval 'r'm x", "command rm x", "builtin rm", "exec rm x", "busybox rm x", "timeout 5 rm x", "su - bob -c 'rm x'", "su bob -c 'rm x'", "doas rm x", "chroot /x rm y", "trap rm EXIT", "if rm x; then :; fi",
		"f() { rm x; }", "rm 'unclosed", "unclosed '", "{rm,x}", "env -S'rm x'", "xargs -a list rm", "stdbuf -o L rm x", "systemd-run rm x", "time -p rm x", "bash -o pipefail -c 'rm x'", "bash -c -- 'rm x'",
	} {
		if err := r.Command(no); err == nil {
			t.Errorf("%q was let through", no)
		}
	}
}

// What begins with denied words is stopped, in every form of the shell.
func TestDeniedBeginnings(t *testing.T) {
	r := rules(t, "", "rm -rf|git push")
	for _, no := range []string{
		"rm -rf", "rm -rf /x", `\rm -rf x`, "'rm' \"-rf\" x", "/bin/rm -rf x", "sudo rm -rf x", "sudo -u bob rm -rf $HOME", "env A=b rm -rf x", "sh -c 'rm -rf x'", "bash -O extglob -c 'rm -rf x'", "xargs -0n 1 rm -rf",
		"flock /tmp/l rm -rf x", "strace -f rm -rf x", "watch rm -rf x", "{rm,-rf,x}", "$'\\x72m' -rf x", "rm $FLAGS x", "x | xargs rm -rf", "find . -exec rm -rf {} +", "git push -f", "git push origin main", "(cd /; rm -rf x)", "nice -5 rm -rf x",
	} {
		if err := r.Command(no); err == nil {
			t.Errorf("%q was let through", no)
		}
	}
	for _, ok := range []string{"rm x", "rm -r x", "rm -rfv2 x", "git pushy", "git pull", "echo rm -rf x", "strace ls", "watch df"} {
		if err := r.Command(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
}

// Denied wins over allowed.
func TestDeniedWins(t *testing.T) {
	r := rules(t, "git *|sudo *|sudo apt *", "git push *|apt remove *")
	for command, want := range map[string]bool{
		"git pull": true, "git push": false, "sudo git pull": true, "sudo git push": false, "sudo apt update": true, "sudo apt remove x": false, "apt update": false, "sudo ls": false,
	} {
		if err := r.Command(command); (err == nil) != want {
			t.Errorf("%q: %v", command, err)
		}
	}
}

// An argument vector is judged as what it is: no shell reads it.
func TestArgv(t *testing.T) {
	r := rules(t, "printf *|sh", "git push *")
	for _, ok := range [][]string{{"printf", "%s", "; rm x"}, {"sh", "-c", "printf x"}, {"/usr/bin/printf", "$X"}, {"/bin/sh", "-c", `exec "$@" >&3 3>&-`, "sh", "printf", "x"}} {
		if err := r.Argv(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, no := range [][]string{{"rm", "x"}, {"sh", "-c", "rm x"}, {"env", "rm"}, {"git", "push"}, {"; printf"}, {"/bin/sh", "-c", `exec "$@"`, "sh", "rm", "x"}} {
		if err := r.Argv(no); err == nil {
			t.Errorf("%q was let through", no)
		}
	}
}

func TestNoListsAllowEverything(t *testing.T) {
	var none *Rules
	for _, r := range []*Rules{none, {}, rules(t, "", "")} {
		if r.Command("not 'shell at (all") != nil || r.Argv([]string{"rm"}) != nil {
			t.Error("refused without lists")
		}
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	for _, bad := range []string{" ", "a\nb", "a\x00"} {
		if _, err := New([]string{"ok", bad}, nil); err == nil || !strings.Contains(err.Error(), "allowed_commands") {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := New(nil, []string{bad}); err == nil || !strings.Contains(err.Error(), "denied_commands") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A refusal says what to look at.
func TestRefusalsAreForPeople(t *testing.T) {
	r := rules(t, "git *", "git push *")
	for command, want := range map[string]string{
		"ls -la":      `"ls -la" is not among allowed_commands (git *)`,
		"git push -f": `denied_commands has "git push *", which "git push -f" matches`,
		"git 'x":      "syntax",
		"$X":          "only known when it runs",
		"PATH=x git":  "it sets PATH",
	} {
		err := r.Command(command)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "did not start") {
			t.Errorf("%q: %v", command, err)
		}
	}
}

// slow is what match and overlap mean, by trying everything.
func slow(glob, text []rune, some bool) bool {
	switch {
	case len(glob) == 0 && len(text) == 0:
		return true
	case some && len(text) > 0 && text[0] == unknown:
		return slow(glob, text[1:], some) || len(glob) > 0 && slow(glob[1:], text, some)
	case len(glob) == 0:
		return false
	case glob[0] == '*':
		return slow(glob[1:], text, some) || len(text) > 0 && slow(glob, text[1:], some)
	case len(text) == 0 || text[0] == unknown || glob[0] != '?' && glob[0] != text[0]:
		return false
	}
	return slow(glob[1:], text[1:], some)
}

func TestMatchersMeanWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?")), 0, 7, -1).Draw(t, "glob")
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00")), 0, 7, -1).Draw(t, "text")
		if got, want := mustMatchGlob(glob, text), slow([]rune(glob), []rune(text), false); got != want {
			t.Errorf("match(%q, %q) = %v", glob, text, got)
		}
		if got, want := mayMatchGlob(glob, text), slow([]rune(glob), []rune(text), true); got != want {
			t.Errorf("overlap(%q, %q) = %v", glob, text, got)
		}
		if mustMatchGlob(glob, text) && !mayMatchGlob(glob, text) {
			t.Errorf("%q always matches %q, but never may", glob, text)
		}
	})
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"git status", "sh -c 'rm x'", "env -S x", "{a,b}", "$'\\n'", "a\x00b", "find . -exec a ;", "xargs -I", "sudo -u", "trap", "eval", "((", "su -c"} {
		f.Add(s, "git *", "rm")
	}
	f.Fuzz(func(t *testing.T, command, allow, deny string) {
		r, err := New([]string{allow}, []string{deny})
		if err != nil {
			return
		}
		if r.Command(command) != nil {
			return
		}
		// What passes both lists passes each of them.
		one, _ := New([]string{allow}, nil)
		two, _ := New(nil, []string{deny})
		if one.Command(command) != nil || two.Command(command) != nil {
			t.Errorf("%q passes both lists, but not each", command)
		}
		if strings.Contains(command, "\x00") {
			return
		}
		if all, _ := New(nil, []string{"*"}); all.Command(command) == nil && all.Command("x;"+command) == nil {
			t.Errorf("%q: nothing is denied although everything is", command)
		}
	})
}

func BenchmarkCommand(b *testing.B) {
	r := rules(b, "git *|ls|cat", "rm|git push *")
	for b.Loop() {
		if err := r.Command("cd repo && git log --oneline | cat"); err != nil {
			b.Fatal(err)
		}
	}
}
