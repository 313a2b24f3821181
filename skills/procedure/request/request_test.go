package request

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Request{
		"run procedure code_review":                     {Name: "code_review"},
		"run procedure a x=1 y=\"two words\" --dry-run": {Name: "a", DryRun: true, Params: map[string]any{"x": Value("1"), "y": "two words"}},
		"run procedure a \"z=q \\\" \\\\ b\"":           {Name: "a", Params: map[string]any{"z": "q \" \\ b"}},
		"run procedure x=y --resume abc":                {Resume: "abc", Params: map[string]any{"x": "y"}},
		"run procedure --resume abc":                    {Resume: "abc"},
		"run procedure a list=[\"b\",2]":                {Name: "a", Params: map[string]any{"list": []any{"b", 2.0}}},
	} {
		if got, ok := Parse(text); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "run procedure", "run procedure a b", "run procedure a\nx=1", "run procedure a x=\"open", "please run procedure a", "run procedure --dry-run", "run procedure a --resume"} {
		if got, ok := Parse(text); ok {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("run procedure a x=1 y='b c' --dry-run --resume z")
	f.Add("run procedure \"a b\" \"x=\\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := Parse(text)
		if !ok {
			return
		}
		again, ok := Parse(r.String())
		if !ok || !reflect.DeepEqual(r, again) {
			t.Errorf("%q\n%+v\n%q\n%+v %v", text, r, r.String(), again, ok)
		}
	})
}
