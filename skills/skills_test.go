package skills

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write puts files below a new folder and returns it.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func text(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n# " + name + "\n\nDo it.\n"
}

func names(list []*Skill) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

func load(o Options) *Catalog {
	o.NoBuiltin = true
	return Load(context.Background(), o)
}

func TestLoadFindsSkillsWithAndWithoutCategories(t *testing.T) {
	t.Parallel()
	home := write(t, map[string]string{
		"alone/SKILL.md":                    text("alone", "One that stands alone."),
		"data/frames/SKILL.md":              text("frames", "Frames."),
		"data/frames/references/deep.md":    "deep",
		"data/frames/inner/SKILL.md":        text("inner", "Never found: below a skill."),
		"ml/training/axolotl/SKILL.md":      text("axolotl", "Trains."),
		".archive/old/SKILL.md":             text("old", "Gone."),
		"data/frames/node_modules/x/README": "no",
	})
	c := load(Options{Home: home})
	if got := names(c.Skills); !slices.Equal(got, []string{"alone", "axolotl", "frames"}) {
		t.Errorf("found %v; problems %v", got, c.Problems)
	}
	if s := c.Find("frames"); s.Category != "data" || !slices.Equal(s.Files(), []string{"references/deep.md"}) {
		t.Errorf("frames is in %q with %v", s.Category, s.Files())
	}
	if s := c.Find("axolotl"); s.Category != "ml/training" {
		t.Errorf("axolotl is in %q", s.Category)
	}
	body, err := c.Find("alone").Read("")
	if err != nil || body != "# alone\n\nDo it.\n" {
		t.Errorf("the text is %q, %v", body, err)
	}
}

func TestBrokenSkillsHideNoOther(t *testing.T) {
	t.Parallel()
	home := write(t, map[string]string{
		"good/SKILL.md":    text("good", "Works."),
		"nohead/SKILL.md":  "just text\n",
		"open/SKILL.md":    "---\nname: open\n",
		"yaml/SKILL.md":    "---\nname: yaml\ndescription: \"a: b\n---\nx\n",
		"Upper/SKILL.md":   text("Upper", "Wrong name."),
		"binary/SKILL.md":  "---\nname: binary\n\xff\xfe---\n",
		"long/SKILL.md":    text("long", strings.Repeat("x", 1025)),
		"large/SKILL.md":   text("large", "Too much.") + strings.Repeat("word ", 30_000),
		"huge/SKILL.md":    text("huge", "Too much.") + strings.Repeat("x", MaxFile),
		"twice/SKILL.md":   "---\nname: twice\nname: other\ndescription: Fine.\n---\nx\n",
		"a/same/SKILL.md":  text("same", "First."),
		"b/same/SKILL.md":  text("same", "Second."),
		"nodesc/SKILL.md":  "---\nname: nodesc\n---\nx\n",
		"listed/SKILL.md":  "---\nname: [a, b]\ndescription: x\n---\nx\n",
		"aliased/SKILL.md": "---\nname: aliased\ndescription: &d x\nlicense: *d\n---\nx\n",
	})
	c := load(Options{Home: home})
	if got := names(c.Skills); !slices.Equal(got, []string{"aliased", "good", "listed", "long", "same", "twice"}) {
		t.Errorf("found %v", got)
	}
	if d := []rune(c.Find("long").Description); len(d) != MaxDescription || d[len(d)-1] != '…' {
		t.Errorf("a description of %d characters", len(d))
	}
	want := map[string]string{
		"nohead/SKILL.md:1": "there is no front matter", "open/SKILL.md:1": "does not end", "yaml/SKILL.md:3": "not valid YAML",
		"Upper/SKILL.md:2": "lower case", "binary/SKILL.md:1": "UTF-8", "long/SKILL.md:3": "1025 characters", "large/SKILL.md:5": "at most 100000",
		"huge/SKILL.md": "bytes", "twice/SKILL.md:3": "line 2 already", "b/same/SKILL.md": "another skill of this name",
		"nodesc/SKILL.md:1": "missing", "listed/SKILL.md:2": "text is wanted", "aliased/SKILL.md:4": "aliases",
	}
	for where, why := range want {
		if !slices.ContainsFunc(c.Problems, func(p Problem) bool {
			return strings.Contains(p.Error(), filepath.FromSlash(where)+":") && strings.Contains(p.Error(), why)
		}) {
			t.Errorf("no problem at %s that says %q", where, why)
		}
	}
	if t.Failed() {
		for _, p := range c.Problems {
			t.Log(p)
		}
	}
}
