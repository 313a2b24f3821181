package learn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hermes/core/testskip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// randomDeltas are what a careless model would say of a text: mostly right, sometimes not.
func randomDeltas(r *rand.Rand, lines []string) []Delta {
	var out []Delta
	for range r.IntN(5) + 1 {
		n := r.IntN(len(lines)+2) - 1
		d := Delta{Op: []string{"add", "replace", "remove", "rewrite"}[min(r.IntN(40)%4, r.IntN(20)/5)], Line: n, Text: []string{"new", "a\nb", "a\r\nb\n", "", lines[0]}[r.IntN(5)]}
		if n > 0 && n <= len(lines) && r.IntN(20) > 0 {
			d.Was = lines[n-1]
		}
		out = append(out, d)
	}
	return out
}

// Ten thousand proposals lose no line that they do not name, whatever a model says.
func TestChangesLoseNoUnnamedLine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	made := 0
	for i := range 10_000 {
		var lines []string
		for range r.IntN(20) + 1 {
			lines = append(lines, []string{"same", "", fmt.Sprint("line ", r.IntN(8)), "- [ ] x", "\ttab", "数字"}[r.IntN(6)])
		}
		head := 0
		if r.IntN(2) == 0 {
			lines = append([]string{"---", "name: x", "---"}, lines...)
			head = 3
		}
		text := strings.Join(lines, "\n")
		if r.IntN(2) == 0 {
			text += "\n"
		}
		deltas := randomDeltas(r, lines)
		after, err := Change(text, headLines, deltas)
		if err != nil {
			continue
		}
		made++
		named := map[int]bool{}
		for _, d := range deltas {
			if d.Op != "add" {
				named[d.Line] = true
			}
		}
		rest := strings.Split(strings.ReplaceAll(after, "\r\n", "\n"), "\n")
		for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if named[n+1] {
				continue
			}
			at := slices.Index(rest, line)
			if at < 0 || n < head && at > 0 {
				t.Fatalf("%d: line %d %q is lost\n%s\n%+v\n%s", i, n+1, line, text, deltas, after)
			}
			rest = rest[at+1:]
		}
	}
	if made < 1500 {
		t.Errorf("only %d of 10,000 were made", made)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"do": "nothing"}`, "a\nb")
	f.Add("```json\n{\"do\": \"change\", \"why\": \"x\", \"deltas\": [{\"op\": \"replace\", \"line\": 2, \"was\": \"b\", \"text\": \"c\"}]}\n```", "a\nb")
	f.Add(`{"do": "create", "why": "x", "name": "n", "description": "d", "body": "b"}`, "")
	f.Add(`{"do": "change", "why": "x", "body": "all of it", "deltas": []}`, "---\nname: x\n---\ny")
	f.Fuzz(func(t *testing.T, said, text string) {
		a, err := ReadAnswer(said)
		if err != nil || a.Do != "change" {
			return
		}
		if after, err := Change(text, headLines, a.Deltas); err == nil {
			if err := keepsOtherLines(text, after, a.Deltas); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A version that does as well as the one before is seldom taken back; one that does much worse soon
// is.
func TestWorse(t *testing.T) {
	t.Parallel()
	testskip.WithoutRace(t, "thousands of draws")
	if p := probabilityWorse(3, 3, 3, 3); p < 0.49 || p > 0.51 {
		t.Errorf("of equals: %v", p)
	}
	r := rand.New(rand.NewPCG(3, 4))
	run := func(old, new float64, uses int) (back float64) {
		const runs = 200
		for range runs {
			og, ng := 0.0, 0.0
			for range 20 {
				if r.Float64() < old {
					og++
				}
			}
			for n := 1; n <= uses; n++ {
				if r.Float64() < new {
					ng++
				}
				if n >= minUses && probabilityWorse(ng, float64(n)-ng, og, 20-og) > surelyBad {
					back += 1.0 / runs
					break
				}
			}
		}
		return back
	}
	if same := run(0.85, 0.85, 50); same > 0.13 {
		t.Errorf("%.2f of versions that are as good are taken back", same)
	}
	if fell := run(0.85, 0.5, 20); fell < 0.58 {
		t.Errorf("only %.2f of versions that fell to half are taken back", fell)
	}
}
