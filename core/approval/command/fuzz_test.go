package command

import (
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core/testskip"
	"hermes/core/testwait"
)

func FuzzAnalyse(f *testing.F) {
	for _, path := range []string{"testdata/commands.tsv", "testdata/heldout.tsv"} {
		for i, r := range readTable(f, path) {
			if i%7 == 0 {
				f.Add(r.command)
			}
		}
	}
	c := placeForTests()
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		a := Analyse(text, c)
		if took := time.Since(start); took > testwait.Within(10*time.Second) {
			t.Fatalf("%q took %s", text, took)
		}
		if a.Reason == unanalysed {
			t.Fatalf("%q makes the analyser fail", text)
		}
		if (a.Verdict == Allow) != (a.Reason == "") || a.Span[0] < 0 || a.Span[1] > len(text) || a.Span[0] > a.Span[1] {
			t.Fatalf("%q: %+v", text, a)
		}
		for _, e := range a.Effects {
			if e.Span[0] < 0 || e.Span[1] > len(text) || e.Span[0] > e.Span[1] {
				t.Fatalf("%q: %+v", text, e)
			}
		}
		if b := Analyse("rm -rf /\n"+text, c); b.Verdict == Allow {
			t.Fatalf("%q behind it hides rm -rf /", text)
		}
	})
}

// Texts that are made to be slow to read.
func TestPathologicalTextsAreBounded(t *testing.T) {
	testskip.LongWithoutRace(t, "reads what takes long on purpose")
	c := placeForTests()
	many := strings.Repeat
	for _, text := range []string{
		many("(", 60000), many("{ ", 30000), many("$(", 30000), many("`", 60000), many("a;", 30000), many("$((", 20000), many("[[ ", 20000),
		"echo " + many("{a,b}", 40), "echo {1..999999999}", "echo " + many("{1..99}", 9), many("x=$x$x;", 9000), "x=aa;" + many("x=$x$x;", 190) + "rm $x",
		many("sh -c '", 400), many("eval ", 10000) + "x", many("sudo ", 10000) + "x", many("if true; then ", 3000), many("cat <<E\n", 3000), many("\\\n", 30000),
		"sed '" + many("s/a/b/;", 9000) + "'", "awk '" + many("{print /", 7000) + "'", many("a | ", 15000) + "b", many("\x00", 60000), many("f(){ ", 5000), many("\"$(", 20000),
		many("for x in $x;do ", 4000), "echo " + many("~/", 30000), many("a=([", 10000), many("case x in x) ", 4000), many("<(", 20000), many("xargs ", 10000) + "x",
		many("bash -c \"$(", 90), many("x", 65537), "env -S '" + many("env -S ", 5000) + "'",
	} {
		start := time.Now()
		a := Analyse(text, c)
		took := time.Since(start)
		if took > testwait.Within(10*time.Second) {
			t.Errorf("%.40q… took %s", text, took)
		}
		t.Logf("%.30q… %s", text, took)
		if a.Reason == unanalysed {
			t.Errorf("%.40q… makes the analyser fail", text)
		}
	}
}

// TestAnalyserIsFast holds a bound that is wide enough for a slow machine; BenchmarkAnalyse says
// the figure.
func TestAnalyserIsFast(t *testing.T) {
	took := measure(t)
	if p95 := took[len(took)*95/100]; p95 > testwait.Within(2*time.Millisecond) {
		t.Errorf("p95 is %s a command", p95)
	}
}

func measure(t testing.TB) []time.Duration {
	c := placeForTests()
	rows := readTable(t, "testdata/commands.tsv")
	took := make([]time.Duration, 0, len(rows))
	for _, r := range rows {
		start := time.Now()
		Analyse(r.command, c)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took
}

func BenchmarkAnalyse(b *testing.B) {
	var p95 time.Duration
	for b.Loop() {
		took := measure(b)
		p95 = took[len(took)*95/100]
	}
	b.ReportMetric(float64(p95.Nanoseconds()), "p95-ns/command")
}

// TestAnalyserKeepsUpWithItsParser measures in shares of what parsing the same commands alone takes
// on this machine now: two or three readings and the walk. Locked to the parser, the figure does
// not depend on what else runs.
func TestAnalyserKeepsUpWithItsParser(t *testing.T) {
	rows := readTable(t, "testdata/commands.tsv")
	best := func(of func(string)) time.Duration {
		fastest := time.Hour
		for range 7 {
			start := time.Now()
			for _, r := range rows {
				of(r.command)
			}
			fastest = min(fastest, time.Since(start))
		}
		return fastest
	}
	c := placeForTests()
	parsing := best(func(s string) {
		_, _ = syntax.NewParser().Parse(strings.NewReader(s), "") // some are no commands
	})
	analysing := best(func(s string) { Analyse(s, c) })
	t.Logf("%s a command to parse, %s to analyse", parsing/time.Duration(len(rows)), analysing/time.Duration(len(rows)))
	if analysing > 25*parsing {
		t.Errorf("analysing takes %.1f times as long as parsing", float64(analysing)/float64(parsing))
	}
}
