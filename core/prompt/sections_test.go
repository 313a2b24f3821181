package prompt

import (
	"strings"
	"testing"
)

// What a prompt is made of is found again in its stored text, whatever a project's file says.
func TestSections(t *testing.T) {
	dir := tree(t, map[string]string{"AGENTS.md": "Use tabs.\n\n# This session\n\nnot ours\n\n# Skills\n\nnor this"})
	o := options(dir)
	o.Skills, o.Memory = "- deploy: ship it", "# What you remember\n\nThe person likes tea."
	text := Build(o).Text()
	got, size := map[string]string{}, 0
	for _, s := range Sections(text) {
		got[s.Name], size = s.Text, size+len(s.Text)
	}
	for section, want := range map[string][]string{
		SectionIdentity: {"You are Hermes", "linux/amd64", "Session: s1"}, SectionTools: {"`terminal` runs"}, SectionSkills: {"ship it"},
		SectionContext: {"Use tabs.", "not ours", "nor this"}, SectionMemory: {"likes tea"},
	} {
		for _, w := range want {
			if !strings.Contains(got[section], w) {
				t.Errorf("%q is not in %s: %q", w, section, got[section])
			}
		}
	}
	if size != len(text) {
		t.Errorf("%d bytes of %d", size, len(text))
	}
	if bare := Sections("You are a pirate."); len(bare) != 1 || bare[0].Text != "You are a pirate." {
		t.Errorf("%+v", bare)
	}
}
