package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files as other programs' skills have them: each is read, and what should be mended is said with
// its line.
func TestSkillsOfForgivingReaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ folder, text, description, warning string }{
		{"pdf-forms", "---\nname: PDF Forms\ndescription: Old style.\n---\nx\n", "Old style.", "SKILL.md:2: name: "},
		{"nameless", "---\ndescription: No name.\n---\nx\n", "No name.", "SKILL.md:1: name: "},
		{"colon", "---\nname: colon\ndescription: Use it: when they say: \"go\", or it's late\n---\nx\n", `Use it: when they say: "go", or it's late`, "SKILL.md:3: description: "},
		{"folds", "---\nname: folds\ndescription: Use it: when\n  it's needed: now\nlicense: MIT\n---\nx\n", "Use it: when it's needed: now", "SKILL.md:3: description: "},
		{"sign", "---\nname: sign\ndescription: @mentions and `ticks`\n---\nx\n", "@mentions and `ticks`", "SKILL.md:3: description: "},
		{"hint", "---\nname: hint\nargument-hint: [number] [priority]\ndescription: Works.\n---\nx\n", "Works.", "SKILL.md:3: argument-hint: "},
		{"blanks", "---  \nname: blanks\ndescription: Works.\n--- \nx\n", "Works.", ""},
		{"dos", "\ufeff---\r\nname: dos\r\ndescription: |\r\n  One.\r\n  Two: x\r\n---\r\nx", "One. Two: x", ""},
	} {
		dir := filepath.Join(t.TempDir(), c.folder)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, File), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := One(dir)
		if !s.Usable() || s.Name != c.folder || s.Description != c.description {
			t.Errorf("%s: %q %q %v", c.folder, s.Name, s.Description, s.Problems)
		}
		if c.warning == "" != (len(s.Problems) == 0) || c.warning != "" && !strings.Contains(s.Problems[0].Error(), c.warning) {
			t.Errorf("%s: %v", c.folder, s.Problems)
		}
	}
}

// What is no YAML for another reason stays an error with the line of the text as it stands, and a
// folder that is no name gives none.
func TestLenienceHasItsBounds(t *testing.T) {
	t.Parallel()
	for folder, text := range map[string]string{
		"tabs":     "---\nname: tabs\nmetadata:\n\ta: b\ndescription: x: y\n---\nx\n",
		"Big Name": "---\nname: Big Name\ndescription: x\n---\nx\n",
		"quote":    "---\nname: quote\ndescription: \"open\n---\nx\n",
	} {
		dir := filepath.Join(t.TempDir(), folder)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := One(dir); s.Usable() {
			t.Errorf("%s is taken: %q %q", folder, s.Name, s.Description)
		}
	}
}

// A file that came after the trust is not even named to a model.
func TestNewFilesOfTrustedProjectsAreNotListed(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	refs := filepath.Join(project, ".agents/skills/x/references")
	if err := os.MkdirAll(refs, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(refs, "a.md"), "a")
	write(filepath.Join(refs, "../SKILL.md"), "---\nname: x\ndescription: y\n---\nz\n")
	o := Options{Project: project, Trust: NewTrust(filepath.Join(home, TrustFile)), NoBuiltin: true}
	if err := o.Trust.Accept(o, o.Look()); err != nil {
		t.Fatal(err)
	}
	s := Load(t.Context(), o).Find("x")
	write(filepath.Join(refs, "b.md"), "b")
	if got := strings.Join(s.Files(), " "); got != "references/a.md" {
		t.Errorf("files: %q", got)
	}
}
