package skills

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseReadsEverything(t *testing.T) {
	t.Parallel()
	s, body := Parse("SKILL.md", []byte(`---
name: full
description: >
  When there is
  much to read.
version: 1.2.3
author: Somebody
license: MIT
platforms: [linux, darwin]
category: data/frames
required_environment_variables:
  - name: SERVICE_KEY
    prompt: Key of the service
    help: where to get it
  - OTHER_KEY
required_credential_files:
  - path: token.json
  - plain.json
x-own: kept
metadata:
  somebody: {else: 1}
  hermes:
    tags: [a, b]
    requires_toolsets: [terminal]
    requires_tools: web_search, web_extract
    fallback_for_toolsets: [web]
    fallback_for_tools: [x]
    config: [{key: a.b}]
---
# Text

With --- in it
---
and after.
`))
	if len(s.Problems) > 0 {
		t.Fatal(s.Problems)
	}
	got := fmt.Sprintf("%s|%s|%s|%s|%s|%v|%s|%v|%v|%v|%v|%v|%v", s.Name, s.Description, s.Version, s.Author, s.License, s.Platforms, s.Category, s.Env, s.Credentials, s.Tags, s.Requires, s.Fallback, s.Other)
	want := "full|When there is much to read.|1.2.3|Somebody|MIT|[linux macos]|data/frames|[{SERVICE_KEY Key of the service where to get it} {OTHER_KEY  }]|[token.json plain.json]|[a b]|{[terminal] [web_search web_extract]}|{[web] [x]}|[x-own]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if body != "# Text\n\nWith --- in it\n---\nand after.\n" || s.BodyLine() != 30 {
		t.Errorf("text from line %d: %q", s.BodyLine(), body)
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	s := Skill{Platforms: []string{"macos"}, Requires: Needs{Toolsets: []string{"web"}, Tools: []string{"patch"}}, Fallback: Needs{Toolsets: []string{"vision"}, Tools: []string{"todo"}}}
	for _, c := range []struct {
		system          string
		toolsets, tools string
		why             string
	}{
		{"darwin", "web", "patch", ""},
		{"linux", "web", "patch", "it is for macos"},
		{"darwin", "", "patch", "it needs the toolset web"},
		{"darwin", "web", "", "it needs the tool patch"},
		{"darwin", "web vision", "patch", "it stands in for the toolset vision, which is there"},
		{"darwin", "web", "patch todo", "it stands in for the tool todo, which is there"},
	} {
		if why, ok := s.Fits(c.system, strings.Fields(c.toolsets), strings.Fields(c.tools)); why != c.why || ok != (c.why == "") {
			t.Errorf("%v: %q %v", c, why, ok)
		}
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "a-b", "a_b", "a.b", "deploy2", strings.Repeat("x", 64), "7z"} {
		if err := CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "A", "-a", "a-", ".a", "a..b", "a/b", `a\b`, "a b", "ä", "hеlp", "a\u202e", "a\u200bb", "a\x00", strings.Repeat("x", 65), "..", "."} {
		if CheckName(bad) == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}

// Whatever CheckPath lets through stays below the skill's folder, in one of the folders of the
// format.
func TestCheckPathStaysInside(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", ".", "..", "../x", "/etc/passwd", "references", "references/", "references/../x", "references/../../x", "references/.hidden", ".git/config", "scripts", "other/x", "SKILL.md/x", "~/x", `references\x`, "references/x\x00", "references/\u202ex", "references/" + strings.Repeat("x", 300)} {
		if clean, err := CheckPath(bad); err == nil {
			t.Errorf("%q becomes %q", bad, clean)
		}
	}
	part := rapid.SampledFrom([]string{"references", "templates", "scripts", "assets", "..", ".", "", "x", ".x", "a.md", "~", "…", "\u200b", `\`, "SKILL.md"})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "/")
		clean, err := CheckPath(in)
		if err != nil {
			return
		}
		if clean != path.Clean(clean) || path.IsAbs(clean) || strings.HasPrefix(clean, "..") || clean != File && !slices.Contains(folders, strings.Split(clean, "/")[0]) {
			t.Fatalf("%q becomes %q", in, clean)
		}
	})
}

// A template is a skill without problems, whatever is said about it.
func TestTemplateIsASkill(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		about := rapid.StringMatching(`[ -~äöü中]{0,80}`).Draw(t, "about")
		s, _ := Parse(File, []byte(Template("some-name", about)))
		if !s.Usable() || s.Name != "some-name" || strings.TrimSpace(about) != "" && s.Description != strings.Join(strings.Fields(about), " ") {
			t.Fatalf("%q: %q %v", about, s.Description, s.Problems)
		}
	})
}

// FuzzParse holds the parser to what its callers rely on, for any file.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		text("a", "b"), "---\n---\n", "---\n", "", "---\nname: [\n---\n", "---\nname: a\ndescription: b\nplatforms: {a: b}\nmetadata: {hermes: [1, {a: b}]}\n---\nx",
		"---\na: &a [*a]\n---\n", "---\n<<: {name: x}\n? [a]\n: b\n---\n", "---\r\nname: a\r\ndescription: b\r\n---\r\nx", "---\n!!binary a: b\n--- \n", "\ufeff---\nname: a\n---\n",
		"---\nrequired_environment_variables: [{name: [x]}, 1, null, {}]\nprerequisites: {env_vars: [A]}\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, body := Parse("f", data)
		lines := strings.Count(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") + 2
		if s.line < 1 || s.line > lines {
			t.Errorf("the text begins in line %d of %d", s.line, lines)
		}
		if s.Usable() && (CheckName(s.Name) != nil || s.Description == "" || strings.Contains(s.Description, "\n") || len([]rune(s.Description)) > MaxDescription || len([]rune(body)) > MaxBody) {
			t.Errorf("usable: %+v", s)
		}
		if !s.Usable() && len(s.Problems) == 0 {
			t.Error("not usable, and nobody says why")
		}
		for _, p := range s.Problems {
			if p.Why == "" || p.Line < 0 || p.Line > lines {
				t.Errorf("problem %+v of %d lines", p, lines)
			}
		}
		if s.Category != "" && CheckCategory(s.Category) != nil {
			t.Errorf("category %q", s.Category)
		}
	})
}
