package prompt

import "strings"

// Section is a part of a prompt by what it is about.
type Section struct {
	Name string // "identity", "tools", "skills", "context", "memory"
	Text string
}

// The names of sections, in the order of a prompt.
const (
	SectionIdentity = "identity" // who the agent is, how it works, the machine, the session
	SectionTools    = "tools"    // guidance for tools
	SectionSkills   = "skills"
	SectionContext  = "context" // the instructions of the project
	SectionMemory   = "memory"
)

// marks are what begins a section, and what ends it where the text before the next one is of
// another.
var marks = []struct{ section, begin, end string }{
	{SectionTools, "# Your tools\n\n", ""},
	{SectionSkills, "# Skills\n\n", "\n</skills>"},
	{SectionIdentity, "# Environment\n\n", ""},
	{SectionContext, "# Project instructions\n\n", "\n</project-file>"},
	{SectionMemory, "# What you remember\n\n", ""},
	{SectionIdentity, "# This session\n\n", ""},
}

// Sections divides the text of a Prompt, which may have been stored for long, by what its parts
// are about. Joined, the sections hold every byte of it.
func Sections(text string) []Section {
	texts := map[string]*strings.Builder{}
	add := func(name, s string) {
		if texts[name] == nil {
			texts[name] = &strings.Builder{}
		}
		texts[name].WriteString(s)
	}
	now := SectionIdentity
	for i, m := range marks {
		at := strings.Index("\n"+text, "\n"+m.begin)
		if i == len(marks)-1 { // the project's own words stand before it, and may hold the same
			at = strings.LastIndex("\n"+text, "\n"+m.begin)
		}
		if at < 0 {
			continue
		}
		add(now, text[:at])
		text, now = text[at:], m.section
		if m.end == "" {
			continue
		}
		end := strings.LastIndex(text, m.end)
		if m.section == SectionSkills {
			end = strings.Index(text, m.end)
		}
		if end >= 0 {
			add(now, text[:end+len(m.end)])
			text, now = text[end+len(m.end):], SectionIdentity
		}
	}
	add(now, text)
	var out []Section
	for _, name := range []string{SectionIdentity, SectionTools, SectionSkills, SectionContext, SectionMemory} {
		if b := texts[name]; b != nil && b.Len() > 0 {
			out = append(out, Section{name, b.String()})
		}
	}
	return out
}
