package tool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hermes/core/event"
)

const probeSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
	"path":{"type":"string","minLength":1},
	"limit":{"type":"integer","minimum":1,"maximum":2000},
	"ratio":{"type":"number"},
	"all":{"type":"boolean"},
	"mode":{"type":"string","enum":["fast","slow"]},
	"tags":{"type":"array","maxItems":2,"items":{"type":"string"}},
	"items":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}`

type probeArgs struct {
	Path  string   `json:"path"`
	Limit int      `json:"limit"`
	Tags  []string `json:"tags"`
}

// probe is a tool that does what run says.
func probe(name, toolset string, run func(ctx context.Context, c Call, a probeArgs) (Result, error)) Tool {
	return Typed(Spec{Name: name, Toolset: toolset, Description: name, Schema: json.RawMessage(probeSchema)}, run)
}

func echo(_ context.Context, c Call, _ probeArgs) (Result, error) {
	return Result{Text: string(c.Args)}, nil
}

func registry(t testing.TB, tools ...Tool) *Registry {
	t.Helper()
	r, err := NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestValidate(t *testing.T) {
	t.Parallel()
	r := registry(t, probe("read", "file", echo))
	for args, want := range map[string]string{
		`{"path":"a"}`:                             `{"path":"a"}`,
		`{"path":"a","limit":"5"}`:                 `{"limit":5,"path":"a"}`,
		`{"path":"a","limit":5.0}`:                 `{"path":"a","limit":5.0}`,
		`{"path":"a","all":"True"}`:                `{"all":true,"path":"a"}`,
		`{"path":"a","ratio":"0.5"}`:               `{"path":"a","ratio":0.5}`,
		`{"path":"a","tags":"x"}`:                  `{"path":"a","tags":["x"]}`,
		`{"path":"a","tags":"[\"x\",\"y\"]"}`:      `{"path":"a","tags":["x","y"]}`,
		`{"path":"a","limit":null}`:                `{"path":"a"}`,
		`{"path":"5"}`:                             `{"path":"5"}`,
		`{"path":"a","limit":"5x"}`:                `! limit has the wrong type: "5x" was given, allowed is integer 1-2000`,
		`{"path":"a","limit":9000}`:                `! limit is out of range: 9000 was given, allowed is integer 1-2000`,
		`{"path":"a","limit":"9000"}`:              `! limit has the wrong type`,
		`{"path":"a","limit":1.5}`:                 `! limit has the wrong type: 1.5 was given`,
		`{"path":"a","mode":"quick"}`:              `! mode is none of the choices: "quick" was given, allowed is one of "fast" | "slow"`,
		`{"path":"a","tags":["x","y","z"]}`:        `! tags is too long (3)`,
		`{"path":"a","tags":[1]}`:                  `! read: `,
		`{"path":"a","items":[{}]}`:                `! read: `,
		`{"path":"a","all":"maybe"}`:               `! all has the wrong type: "maybe" was given, allowed is boolean`,
		`{"path":""}`:                              `! path is too short (0)`,
		`{"path":7}`:                               `! path has the wrong type: 7 was given`,
		`{"file_path":"a"}`:                        `! there is no argument "file_path" (did you mean path?); path is required and was not given`,
		`{"path":"a","lmit":3}`:                    `! did you mean limit?`,
		`{}`:                                       `! path is required`,
		``:                                         `! path is required`,
		`[]`:                                       `! the arguments are an array; send one JSON object`,
		`{"path":"a"} trailing`:                    `! text after the JSON object`,
		`{"path":`:                                 `! not valid JSON`,
		`{"path":"a","limit":1e999}`:               `! limit has the wrong type`,
		`{"path":"a","limit":9223372036854775808}`: `! limit is out of range`,
	} {
		got, err := r.Validate("read", json.RawMessage(args))
		if text, bad := strings.CutPrefix(want, "! "); bad {
			if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "read: ") {
				t.Errorf("%s: %v, want %s", args, err, text)
			}
		} else if err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", args, got, err, want)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"path":"a","limit":"5","tags":"[1]"}`)
	f.Add(`{"path":1e400}`)
	f.Add(`{"items":[{"id":null}],"path":"\u0000"}`)
	r := registry(f, probe("read", "file", echo))
	f.Fuzz(func(t *testing.T, args string) {
		got, err := r.Validate("read", json.RawMessage(args))
		if err != nil {
			return
		}
		again, err := r.Validate("read", got)
		if err != nil {
			t.Fatalf("%s became %s, which is refused: %v", args, got, err)
		}
		if !json.Valid(again) {
			t.Fatalf("not JSON: %s", again)
		}
	})
}

func TestRun(t *testing.T) {
	t.Parallel()
	code := 3
	ctx, cancel := context.WithCancel(context.Background())
	r := registry(
		t, probe("read_file", "file", echo),
		probe("panics", "file", func(context.Context, Call, probeArgs) (Result, error) { panic("boom") }),
		probe("fails", "file", func(context.Context, Call, probeArgs) (Result, error) {
			return Result{Text: "half"}, errors.New("broken")
		}),
		probe("dirty", "file", func(context.Context, Call, probeArgs) (Result, error) {
			return Result{Text: "a\x00b\xffc", ExitCode: &code, Backend: "here"}, nil
		}),
		probe("waits", "file", func(ctx context.Context, _ Call, _ probeArgs) (Result, error) {
			cancel()
			return Result{Text: "until now"}, ctx.Err()
		}),
	)
	ok := json.RawMessage(`{"path":"a"}`)
	if got := r.Run(ctx, "waits", Call{ID: "1", Args: ok}); !got.Interrupted || got.Text != "until now\n[interrupted]" || got.CallID != "1" {
		t.Errorf("%+v", got)
	}
	if got := r.Run(ctx, "read_file", Call{Args: ok}); !got.Interrupted || got.Text != "Interrupted before it started." {
		t.Errorf("%+v", got)
	}
	ctx = context.Background()
	if got := r.Run(ctx, "raed_file", Call{}); !got.IsError || !strings.Contains(got.Text, "There is no tool called \"raed_file\".") {
		t.Errorf("%+v", got)
	}
	var note string
	out := func(s event.Stream, data []byte) { note += string(s) + string(data) }
	if got := r.Run(ctx, "panics", Call{Args: ok, Output: out}); !got.IsError || !strings.Contains(got.Text, "boom") || strings.Contains(got.Text, "goroutine") || !strings.Contains(note, "goroutine") {
		t.Errorf("%+v; note %q", got, note)
	}
	if got := r.Run(ctx, "fails", Call{Args: ok}); !got.IsError || got.Text != "half\nbroken" || got.Interrupted {
		t.Errorf("%+v", got)
	}
	if got := r.Run(ctx, "dirty", Call{Args: ok}); got.Text != "a\uFFFDb\uFFFDc" || *got.ExitCode != 3 || got.Backend != "here" || got.Took <= 0 {
		t.Errorf("%+v", got)
	}
}

func TestToolsets(t *testing.T) {
	t.Parallel()
	hidden := Spec{Name: "hidden", Toolset: "file", Schema: json.RawMessage(probeSchema), Available: func() error { return errors.New("not on this machine") }}
	r := registry(t, probe("zeta", "terminal", echo), probe("alpha", "file", echo), probe("web_search", "web", echo), Typed(hidden, echo))
	for sets, want := range map[string]string{
		"": "alpha web_search zeta", "file": "alpha", "debugging": "alpha web_search zeta", "safe": "web_search", "coding": "alpha zeta",
		"alpha": "alpha", "file,nope": "alpha", "all": "alpha web_search zeta", "nope": "",
	} {
		var names []string
		if sets != "" {
			names = strings.Split(sets, ",")
		}
		if got := strings.Join(r.Enabled("", names), " "); got != want {
			t.Errorf("%q: %q, want %q", sets, got, want)
		}
		if len(r.Specs("", names)) != len(strings.Fields(want)) {
			t.Errorf("%q: %d specs", sets, len(r.Specs("", names)))
		}
	}
	if err := r.Unknown([]string{"file", "alpha", "terminl"}); err == nil || !strings.Contains(err.Error(), "did you mean terminal?") {
		t.Error(err)
	}
	if err := r.Unknown([]string{"file", "alpha"}); err != nil {
		t.Error(err)
	}
	if got := r.Run(context.Background(), "hidden", Call{Args: json.RawMessage(`{"path":"a"}`)}); !strings.Contains(got.Text, "not available here: not on this machine") {
		t.Error(got.Text)
	}
	for _, s := range Toolsets() {
		for _, in := range s.Includes {
			if !slices.Contains(ToolsetNames(), in) {
				t.Errorf("toolset %s includes %s, which does not exist", s.Name, in)
			}
		}
	}
}

func TestRegistryRefusesBadNames(t *testing.T) {
	t.Parallel()
	if _, err := NewRegistry(probe("a", "x", echo), probe("a", "x", echo)); err == nil {
		t.Error("a doubled name was taken")
	}
	if _, err := NewRegistry(probe("Bad-Name", "x", echo)); err == nil {
		t.Error("a bad name was taken")
	}
}

// Head and tail are exact pieces, together at most limit characters, and what is left out is
// counted right.
func TestCutText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "日", "\n", "é", "🚀", "line\n", "    "}), 0, 200).Draw(t, "parts"), "")
		limit := rapid.IntRange(0, 150).Draw(t, "limit")
		c := CutText(s, limit)
		n := utf8.RuneCountInString(s)
		if n <= limit {
			if c.Head != s || c.Tail != "" || c.Left != 0 {
				t.Fatalf("%+v", c)
			}
			return
		}
		kept := utf8.RuneCountInString(c.Head) + utf8.RuneCountInString(c.Tail)
		if kept > limit || kept+c.Left != n {
			t.Fatalf("kept %d and left %d of %d, limit %d", kept, c.Left, n, limit)
		}
		if !strings.HasPrefix(s, c.Head) || !strings.HasSuffix(s, c.Tail) || !utf8.ValidString(c.Head+c.Tail) {
			t.Fatalf("%+v", c)
		}
		if utf8.RuneCountInString(c.Head) > limit*2/5 {
			t.Fatal("the head took more than 40 %")
		}
	})
}

func TestBudgetAndSpill(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Repeat(rapid.SampledFrom([]string{"x", "日本\n", "\xff", "ab\x00", "row of text\n"}).Draw(rt, "unit"), rapid.IntRange(1, 3000).Draw(rt, "n"))
		big := Typed(Spec{Name: "big", Toolset: "file", Schema: json.RawMessage(probeSchema), MaxResult: 1000},
			func(context.Context, Call, probeArgs) (Result, error) { return Result{Text: text}, nil })
		r := registry(t, big)
		dir := filepath.Join(t.TempDir(), "spill")
		r.SpillTo(dir)
		got := r.Run(context.Background(), "big", Call{Session: "../../evil", Args: json.RawMessage(`{"path":"a"}`)})
		if utf8.RuneCountInString(got.Text) > 1000 || !utf8.ValidString(got.Text) || strings.ContainsRune(got.Text, 0) {
			rt.Fatalf("%d characters", utf8.RuneCountInString(got.Text))
		}
		if utf8.RuneCountInString(cleanText(text)) <= 1000 {
			if got.Spill != "" || got.Text != cleanText(text) {
				rt.Fatal("a result within the budget was touched")
			}
			return
		}
		info, err := os.Stat(got.Spill)
		if err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(got.Spill) != dir || !strings.Contains(got.Text, got.Spill) {
			rt.Fatalf("%v %v %s", err, info, got.Spill)
		}
		if data, _ := os.ReadFile(got.Spill); string(data) != cleanText(text) {
			rt.Fatal("the spilled text is not the whole")
		}
	})
}

// A tool that could not keep all of an output has not kept the full text.
func TestBudgetOfACutSpill(t *testing.T) {
	t.Parallel()
	for cut, want := range map[bool]string{false: "Full text: /kept", true: "The beginning: /kept"} {
		big := Typed(Spec{Name: "big", Toolset: "file", Schema: json.RawMessage(probeSchema), MaxResult: 500},
			func(context.Context, Call, probeArgs) (Result, error) {
				return Result{Text: strings.Repeat("row of text\n", 100), Spill: "/kept", SpillCut: cut}, nil
			})
		got := registry(t, big).Run(context.Background(), "big", Call{Args: json.RawMessage(`{"path":"a"}`)})
		if got.SpillCut != cut || !strings.Contains(got.Text, want) {
			t.Errorf("%v: %s", cut, got.Text)
		}
	}
}

func TestBudgetWithoutSpill(t *testing.T) {
	t.Parallel()
	big := probe("big", "file", func(context.Context, Call, probeArgs) (Result, error) {
		return Result{Text: strings.Repeat("0123456789\n", 10_000)}, nil
	})
	got := registry(t, big).Run(context.Background(), "big", Call{Args: json.RawMessage(`{"path":"a"}`)})
	if n := utf8.RuneCountInString(got.Text); n > DefaultMaxResult || n < DefaultMaxResult*9/10 || !strings.Contains(got.Text, "was not kept") {
		t.Errorf("%d characters", n)
	}
	r := registry(t, big)
	r.Limit(1000)
	small := r.Run(context.Background(), "big", Call{Args: json.RawMessage(`{"path":"a"}`)})
	if n := utf8.RuneCountInString(small.Text); n > 1000 || n < 900 {
		t.Errorf("%d characters with a limit of 1000", n)
	}
	for _, l := range strings.Split(strings.TrimSpace(got.Text), "\n") {
		if l != "0123456789" && !strings.HasPrefix(l, "[... ") {
			t.Errorf("a line was torn: %q", l)
		}
	}
}
