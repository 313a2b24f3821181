package command

import (
	"strings"
	"testing"
)

// What a reviewer found to pass unasked: each line does more than it seems to, through what the
// analyser took for known and is not.
func TestReviewedLinesAreAsked(t *testing.T) {
	c := placeForTests()
	for _, cmd := range []string{
		// loops
		`set -- ~/.bashrc; for f; do echo evil >> "$f"; done`,
		`for f in ` + strings.Repeat("1 ", 40) + `~/.ssh/id_rsa; do cat $f; done`,
		`d=~; false && for d in build; do :; done; echo evil >> "$d"`,
		// arrays
		`a=([5]=build [0]=/); echo evil >> "${a[0]}"`,
		`a=([5]=build [0]=/); echo evil >> "$a"`,
		`a=(x ~/.bashrc); a[0]=y; echo evil >> "${a[1]}"`,
		`a=(build); a[0]=~; a[1]=build; echo evil >> "${a[0]}"`,
		`a=(x); a+=([0]=/); echo evil >> "${a[0]}"`,
		`a=(b); false && a+=(c); a+=(~); echo evil >> "${a[1]}"`,
		`a=(/* build); echo evil >> "${a[1]}"`,
		`d=build; echo evil >> "..${d[1]}/x"`,
		`a=(x build); read 'a[1]' <<< /etc; echo evil >> "${a[1]}"`,
		`a=(x build); printf -v 'a[1]' %s /etc; echo evil >> "${a[1]}"`,
		`a=([0]=-delete); find . "${a[@]}"`,
		`x=1; true && for x in -delete; do find . $x; done`,
		// what is read
		`d=~; false && read d <<< build; echo evil >> "$d"`,
		`read -n1 d <<< "/tmp/x"; echo evil >> "$d"`,
		`read -d x d <<< "../x"; echo evil >> "$d"`,
		`mapfile -t a <<< "build /"; echo evil >> "${a[0]}"`,
		`IFS=X read -r d <<< ".X"; echo evil >> "$d"`,
		`read d <<< '.\./x'; echo evil >> "$d"`,
		`read d <<< ' . '; echo evil >> "$d"`,
		`{ read a; read b; } <<< build; echo evil >> ..$b/x`,
		`{ cat > /dev/null; read b; } <<< build; echo evil >> ..$b/x`,
		`set -- ~; false && set -- build; echo evil >> "$1"`,
		`set -- ~; false && set -- build; echo evil >> "$@"`,
		`set -- x ~; false && set -- x build; echo evil >> "$2"`,
		`set -- /* build; echo evil >> "$2"`,
		`read d <<< build <&3; echo evil >> "$d"`,
		`read d < list 3<<< build; echo evil >> "$d"`,
		`set -- /* build; shift; echo evil >> "$1"`,
		`true && read d <<< -delete; find . $d`,
		`read -n9 d <<< -delete; find . $d`,
		`true && set -- -delete; find . "$@"`,
		`true && set -- -delete; find . $1`,
		`mapfile -t a <<< "-delete"; find . "${a[@]}"`,
		// what an assignment before a command leaves behind
		`d=build; IFS= read -r d < list; echo evil >> "$d"`,
		`f(){ d=~; }; d=build; A=1 f; echo evil >> "$d"`,
		`d=build; A=1 export d=~; echo evil >> "$d"`,
		`d=build; d=~ export d; echo evil >> "$d"`,
		`d=build; d=~ export d=~; echo evil >> "$d"`,
		`d=~; f(){ local d=build; }; f; echo evil >> "$d"`,
		`d=~; f(){ command local d=build; }; f; echo evil >> "$d"`,
		// what shells inside of shells get
		`d=sub; export PATH; sh -c 'echo evil >> ..$d/x'`,
		`declare d=sub; sh -c 'echo evil >> ..$d/x'`,
		`export d=sub; export -n d; sh -c 'echo evil >> ..$d/x'`,
		`d=sub; f(){ local d; echo evil >> ..$d/x; }; f`,
		`f(){ local d; echo evil >> ..$d/x; }; d=sub; f`,
		`f(){ local TMPDIR; echo evil >> "$TMPDIR/usr"; }; f`,
	} {
		if a := Analyse(cmd, c); a.Verdict == Allow {
			t.Errorf("%q runs unasked: %s", cmd, a.Reason)
		}
	}
}

// What is known stays known.
func TestReviewedLinesThatRun(t *testing.T) {
	for _, cmd := range []string{
		`read -r d <<< build; echo x >> "$d"`,
		`IFS= read -r d <<< build; echo x >> "$d"`,
		`a=(x build); echo x >> "${a[1]}"`,
		`set -- x build; shift; echo x >> "$1"`,
		`for f in a b; do for g in c d; do echo x >> "$g"; done; done`,
		`f(){ local d=build; echo x >> "$d"; }; f`,
		`export d=sub; sh -c 'echo x >> src/$d'`,
		`d=build; A=1 go test ./...; echo x >> "$d"`,
	} {
		if a := Analyse(cmd, placeForTests()); a.Verdict != Allow {
			t.Errorf("%q is asked: %s", cmd, a.Reason)
		}
	}
}

// What it imports runs, and is said; it is everyday work at the level of a project, and none below
// it.
func TestImportsRunCode(t *testing.T) {
	for _, cmd := range []string{`python3 -c "import evil"`, `python3 -c "import evil; print(1)"`} {
		a := Analyse(cmd, placeForTests())
		if a.Verdict != Allow || len(a.Effects) == 0 || a.Effects[0].Class != Run {
			t.Errorf("%q: %s %v", cmd, a.Verdict, a.Effects)
		}
		c := placeForTests()
		c.Level = 0
		if a := Analyse(cmd, c); a.Verdict == Allow {
			t.Errorf("%q runs unasked at the lowest level", cmd)
		}
	}
	if a := Analyse(`echo 'print(1)' > evil.py; python3 -c "import evil"`, placeForTests()); a.Verdict == Allow {
		t.Error("what the line itself wrote is imported unasked")
	}
}
