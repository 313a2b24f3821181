package command

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/testskip"
	"mvdan.cc/sh/v3/syntax"
)

// change writes a command in another way in which a shell does the same, or also the same.
type change struct {
	name string
	of   func(s string) string
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// around puts a script inside of a form; %s is the script with a line break behind it, %q is the
// script as one word.
func around(form string) change {
	return change{form, func(s string) string {
		return strings.NewReplacer("%q", quoted(s), "%s", s+"\n").Replace(form)
	}}
}

// places are forms of the shell in which a script runs.
func places() []change {
	var out []change
	for _, form := range []string{
		"( %s)", "{ %s}", "! { %s}", "time { %s}", "coproc { %s}", "if true; then %sfi", "if %sthen :; fi", "if false; then :; else %sfi", "if false; then :; elif %sthen :; fi",
		"while %sdo break; done", "while true; do %sbreak; done", "until false; do %sbreak; done", "for i in 1; do %sdone", "for ((i=0;i<1;i++)); do %sdone", "case x in x) %s;; esac", "case x in a) :;; *) %s;; esac",
		"select i in 1; do %sbreak; done", "f() { %s}; f", "f() ( %s); f", "function f { %s}\nf", "f() { %s}", "true && { %s}", "false || { %s}", "true; %s", "%strue", "# note\n%s", "\n\n%s", "{ %s} &", "{ %s} | cat", "true | { %s}",
		"{ %s} > /dev/null", "{ %s} 2>&1", "{ %s} < /dev/null", "< /dev/null { %s}", "echo \"$(%s)\"", "echo $(%s)", "x=$(%s)", "x=\"a $(%s)b\"", "export x=$(%s)", "local x=$(%s)", "declare -a x=($(%s))", "a=($(%s))", "a[$(%s)]=1",
		"cat <(%s)", "true > >(%s)", ": ${x:-$(%s)}", ": \"${x:=$(%s)}\"", ": ${x/a/$(%s)}", ": ${x:$(%s)}", "[[ -n $(%s) ]]", "[ -n \"$(%s)\" ]", "(( $(%s) ))", "echo $(( $(%s) + 1 ))", "let \"x=$(%s)\"", "for i in $(%s); do :; done",
		"case $(%s) in x) ;; esac", "case x in $(%s)) ;; esac", "cat <<E\n$(%s)\nE", "cat <<< \"$(%s)\"", "true > \"$(%s)\"", "echo {a,$(%s)}", "echo ~/$(%s)", "return $(%s)", "q1=1 q2=$(%s) true", "eval %q", "trap %q EXIT", "trap -- %q INT TERM",
		"bash -c %q", "sh -c %q", "bash -ec %q", "bash -lc %q", "bash -o pipefail -c %q", "/bin/sh -c %q", "bash -c %q _ a b", "bash <<'E'\n%s\nE", "bash -s <<'E'\n%s\nE", "sh <<< %q", "echo %q | bash", "printf '%b\\n' %q | sh", "bash <(echo %q)", "source <(echo %q)", ". /dev/stdin <<< %q",
		"env bash -c %q", "env -i A=b bash -c %q", "nice -n 5 sh -c %q", "timeout 5 bash -c %q", "timeout -k 1 5 bash -c %q", "nohup bash -c %q &", "setsid -w bash -c %q", "stdbuf -oL bash -c %q", "ionice -c 3 bash -c %q", "xargs -r bash -c %q < x",
		"flock /tmp/l -c %q", "flock /tmp/l bash -c %q", "script -qc %q /dev/null", "find . -maxdepth 0 -exec bash -c %q ';'", "busybox sh -c %q", "watch -n 1 %q", "hyperfine %q", "chronic bash -c %q", "q1=%q; eval \"$q1\"", "q1=%q; bash -c \"$q1\"", "unset -f rm; %s",
		"strace -o /tmp/t bash -c %q", "ls | while read -r l; do %sdone", "exec bash -c %q", "command bash -c %q", "set -e; %s", "shopt -s extglob; %s", "cd . && { %s}", "g() { f; }; f() { %s}; g", "A=b; %s", "rm() { :; }; git() { :; }; %s",
	} {
		out = append(out, around(form))
	}
	return out
}

// words are the words of a command that is nothing but words.
func words(s string) []string {
	f, err := syntax.NewParser().Parse(strings.NewReader(s), "")
	if err != nil || len(f.Stmts) != 1 || len(f.Last) > 0 || len(f.Stmts[0].Redirs) > 0 || f.Stmts[0].Background || f.Stmts[0].Negated {
		return nil
	}
	c, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return nil
	}
	var out []string
	for _, w := range c.Args {
		if l := w.Lit(); l == "" || strings.ContainsAny(l, "\\*?[]{}~!") {
			return nil
		}
		out = append(out, w.Lit())
	}
	return out
}

// each writes every word of a simple command in another way.
func each(name string, of func(w string) string) change {
	return change{name, func(s string) string {
		var out []string
		for _, w := range words(s) {
			out = append(out, of(w))
		}
		return strings.Join(out, " ")
	}}
}

func codedBy(format string) func(string) string {
	return func(w string) string {
		var b strings.Builder
		for i := range len(w) {
			fmt.Fprintf(&b, format, w[i])
		}
		return "$'" + b.String() + "'"
	}
}

// spellings are ways to write the words of a simple command.
func spellings() []change {
	out := []change{
		each("'w'", quoted), each(`"w"`, func(w string) string { return `"` + w + `"` }), each("$'\\x..'", codedBy(`\x%02x`)), each("$'\\nnn'", codedBy(`\%03o`)), each("$'\\u....'", codedBy(`\u%04x`)),
		each("w''", func(w string) string { return w[:1] + "''" + w[1:] }), each(`w""`, func(w string) string { return w[:len(w)/2] + `""` + w[len(w)/2:] }), each(`\w`, func(w string) string { return `\` + strings.Join(strings.Split(w, ""), `\`) }),
		each("w\\⏎", func(w string) string { return w[:1] + "\\\n" + w[1:] }), each("$(echo w)", func(w string) string { return "$(echo " + w + ")" }), each("$(printf)", func(w string) string { return "\"$(printf %s " + w + ")\"" }),
		each("`echo w`", func(w string) string { return "`echo " + w + "`" }), each("$z", func(w string) string { return w[:1] + "$@" + w[1:] }), each("mixed", func(w string) string { return `"` + w[:1] + `"'` + w[1:] + "'" }),
		{"{a,b}", func(s string) string { w := words(s); return "{" + strings.Join(w, ",") + "}" }},
		{"$IFS", func(s string) string { return strings.Join(words(s), "${IFS}") }},
		{"$IFS:0:1", func(s string) string { return strings.Join(words(s), "${IFS:0:1}") }},
		{"variables", func(s string) string {
			set, use := "", ""
			for i, w := range words(s) {
				set += fmt.Sprintf("v%d=%s; ", i, w)
				use += fmt.Sprintf(" $v%d", i)
			}
			return set + strings.TrimSpace(use)
		}},
		{"one variable", func(s string) string { return "v='" + strings.Join(words(s), " ") + "'; $v" }},
		{"array", func(s string) string { return "a=(" + strings.Join(words(s), " ") + "); \"${a[@]}\"" }},
		{"arguments", func(s string) string { return "f() { \"$@\"; }; f " + strings.Join(words(s), " ") }},
		{"$1 $2", func(s string) string {
			w := words(s)
			return "g() { " + w[0] + " \"${@}\"; }; g " + strings.Join(w[1:], " ")
		}},
		{"set --", func(s string) string {
			w := words(s)
			return "set -- " + strings.Join(w[1:], " ") + "; " + w[0] + " \"$@\""
		}},
		{"bash -c $@", func(s string) string {
			w := words(s)
			return "bash -c '" + w[0] + " \"$@\"' _ " + strings.Join(w[1:], " ")
		}},
		{"array of options", func(s string) string {
			w := words(s)
			return "a=(" + strings.Join(w[1:], " ") + "); " + w[0] + " \"${a[@]}\""
		}},
		{"cut", func(s string) string {
			w := words(s)
			return fmt.Sprintf("x=%sZ; ${x%%Z} %s", w[0], strings.Join(w[1:], " "))
		}},
		{"blanks", func(s string) string { return strings.Join(words(s), " \t  ") }},
		{"redirected", func(s string) string {
			w := words(s)
			return w[0] + " >/dev/null " + strings.Join(w[1:], " ") + " 2>&1"
		}},
		{"redirected before", func(s string) string { return "</dev/null 2>/dev/null " + s }},
		{"negated", func(s string) string { return "! " + s }},
		{"two sides", func(s string) string { return "true && " + s + " || true" }},
		{"comment", func(s string) string { return s + " # note" }},
		{"background", func(s string) string { return s + " & wait" }},
	}
	return out
}

// wrapped are programs that run the rest of their words; a command of the shell itself is not one.
func wrapped() []change {
	var out []change
	for _, form := range []string{
		"command ", "command -p ", "command -- ", "exec ", "exec -a x ", "env ", "env -i ", "env A=b C=d ", "env -u A -- ", "env -C . ", "nice ", "nice -n 5 ", "nice -5 ", "ionice -c 3 -n 7 ", "nohup ", "setsid ", "setsid -w ", "setsid --fork ", "stdbuf -oL ", "stdbuf -o L -e0 ",
		"timeout 5 ", "timeout 5s ", "timeout -s KILL 5 ", "timeout --kill-after=1 5 ", "time ", "time -p ", "/usr/bin/time -v ", "taskset -c 0 ", "chrt -b 0 ", "prlimit --nofile=9 ", "setarch x86_64 -R ", "numactl --cpunodebind=0 ", "catchsegv ", "unbuffer ", "fakeroot ",
		"faketime 2020-01-01 ", "strace -f ", "strace -e trace=open -o /tmp/t ", "ltrace ", "valgrind -q ", "perf stat ", "perf record -o /tmp/p -- ", "dbus-run-session -- ", "xvfb-run -a ", "torsocks ", "proxychains -q ", "chronic ", "ts ", "busybox ", "flock /tmp/l ", "flock -n -x /tmp/l ",
		"xargs ", "xargs -n 1 ", "xargs -0 -P 4 ", "find . -maxdepth 0 -exec ", "watch -x ", "watch ", "entr ", "coproc ", "nice timeout 5 env ", "builtin command ", "A=b C=d ",
		"bundle exec ", "composer exec ", "cabal exec ", "stack exec -- ", "direnv exec . ", "dotenv run ", "nyc ", "c8 -r text ", "bear -- ", "poetry run ", "uv run ", "lerna exec -- ", "tox exec -- ", "git bisect run ", "reflex -r x -- ",
		"watchexec -w src -- ", "setarch x86_64 -R ", "gtimeout 5 ", "toybox ", "caffeinate -t 5 ",
	} {
		tail := ""
		if strings.HasPrefix(form, "find") {
			tail = " ';'"
		}
		out = append(out, change{form, func(s string) string { return form + s + tail }})
	}
	return append(out, change{"/bin/w", func(s string) string { return "/usr/bin/" + s }}, change{`\w`, func(s string) string { return `\` + s }})
}

// ofShell are commands that no wrapper can run.
const ofShell = "cd pushd popd export declare typeset local readonly eval source . alias unalias trap exec set unset shopt history read enable hash complete bind umask ulimit return exit break continue builtin command kill wait jobs fg bg disown test [ [[ true false : let time ! { ( if while for until case function coproc select shift mapfile readarray printf echo"

type sample struct{ class, text string }

func samples(t *testing.T, dangerous bool) []sample {
	paths, err := filepath.Glob("testdata/*.tsv")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	var out []sample
	c := placeForTests()
	for _, p := range paths {
		for _, r := range readTable(t, p) {
			if a := Analyse(r.command, c); (a.Verdict != Allow) != dangerous || (r.verdict == string(Allow)) == dangerous {
				continue // what the table tests complain about
			}
			if _, err := syntax.NewParser().Parse(strings.NewReader(r.command), ""); err != nil || strings.HasSuffix(r.command, `\`) || strings.ContainsFunc(r.command, func(r rune) bool { return r != '\n' && Invisible(r) }) || len(r.command) > 4000 || strings.ContainsRune(r.command, 0) || r.class == "hygiene" {
				continue
			}
			out = append(out, sample{r.class, r.command})
		}
	}
	return out
}

// TestNoFormHidesACommand writes each dangerous command of the tables in every way that the shell
// knows, alone and up to four of them on top of each other: none may be allowed.
func TestNoFormHidesACommand(t *testing.T) {
	testskip.LongWithoutRace(t, "every dangerous command in a million forms")
	c, failed, tried := placeForTests(), map[string]int{}, 0
	check := func(from sample, names, s string) {
		tried++
		if a := Analyse(s, c); a.Verdict == Allow {
			if failed[names]++; failed[names] <= 3 && len(failed) < 60 {
				t.Errorf("%s hides a %s: %q", names, from.class, s)
			}
		}
	}
	outer, spelled, wrappers := places(), spellings(), wrapped()
	full := os.Getenv("HERMES_TEST_REQUIRE") == "1" // all of them take half a minute
	random := rand.New(rand.NewSource(7))           //nolint:gosec // a test that is the same every time
	list := samples(t, true)
	for i, s := range list {
		if !full && i%5 != 0 {
			continue
		}
		for j, ch := range outer {
			if full || (i+j)%5 == 0 {
				check(s, ch.name, ch.of(s.text))
			}
		}
		inner := []string{s.text}
		if w := words(s.text); len(w) > 1 {
			for _, ch := range spelled {
				if (ch.name == "{a,b}" || ch.name == "one variable" || strings.Contains(ch.name, "IFS")) && strings.ContainsAny(s.text, ",'\"=: ") && (strings.Contains(s.text, ",") || isOneOf(ofShell, w[0])) {
					continue
				}
				if isOneOf(ofShell, w[0]) && !strings.HasPrefix(ch.name, "'") && ch.name != "negated" && ch.name != "two sides" {
					continue
				}
				inner = append(inner, ch.of(s.text))
				check(s, ch.name, ch.of(s.text))
			}
			for _, ch := range wrappers {
				if !isOneOf(ofShell, w[0]) && (!strings.Contains(w[0], "/") || ch.name != "/bin/w") {
					inner = append(inner, ch.of(s.text))
					check(s, ch.name, ch.of(s.text))
				}
			}
		}
		for range 4 {
			text, names := inner[random.Intn(len(inner))], "spelling"
			for range 1 + random.Intn(3) {
				ch := outer[random.Intn(len(outer))]
				text, names = ch.of(text), names+" in "+ch.name
			}
			check(s, names, text)
		}
	}
	t.Logf("%d commands, %d forms", len(list), tried)
}

// TestHarmlessFormsStayAllowed writes what is allowed in ways that change nothing: it must stay so.
func TestHarmlessFormsStayAllowed(t *testing.T) {
	testskip.LongWithoutRace(t, "every harmless command in every form")
	c, failed, tried, asked := placeForTests(), map[string]int{}, 0, 0
	forms := []change{
		around("{ %s}"), around("( %s)"), around("# note\n%s"), around("%s\necho done"), around("{ %s} | head -20"), around("{ %s} 2>&1 | tail -n 5"), around("{ %s} | wc -l"), around("{ %s} | grep -v x"), around("{ %s} | less"), around("{ %s} 2>/dev/null"),
		around("if %sthen echo ok; fi"), around("{ %s} && echo ok || echo failed"), around("for i in 1 2; do %sdone"), around("time { %s}"), around("set -euo pipefail\n%s"), around("echo start; %s"), around("bash -c %q"), around("timeout 60 bash -c %q"), around("x=$(%s)\necho \"$x\""),
	}
	for _, s := range samples(t, false) {
		list := forms
		if w := words(s.text); len(w) > 1 && !isOneOf(ofShell, w[0]) {
			list = append(list[:len(list):len(list)], spellings()[0], spellings()[1], spellings()[5])
		}
		for _, ch := range list {
			tried++
			if a := Analyse(ch.of(s.text), c); a.Verdict != Allow {
				asked++
				if failed[ch.name]++; failed[ch.name] <= 2 {
					t.Logf("%s asks: %q: %s", ch.name, ch.of(s.text), a.Reason)
				}
			}
		}
	}
	t.Logf("%d forms, %d ask", tried, asked)
	if asked*200 > tried { // what a script is told to do may well depend on where it stands
		t.Errorf("%d of %d harmless forms ask: %v", asked, tried, failed)
	}
}
