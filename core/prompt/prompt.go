// Package prompt makes the system prompt of a session, in three tiers that change at different
// speeds:
//
//   - Stable: who the agent is (SOUL.md in the home folder, else our own words), how it works,
//     guidance for the tools that are there, the machine. The same for all sessions of a
//     configuration.
//   - Context: what the caller adds, and the instructions of the project.
//   - Volatile: what is remembered, the day, the folder, the model, the back ends, the session.
//
// The contract: equal Options over equal files give equal bytes, so that a server can cache the
// prefix; the caller freezes a Prompt for a session. Build never fails: a file that cannot be used
// becomes a Notice. Project files are hostile: they are bounded, stripped of control and invisible
// characters, marked as the project's words, and never read through a link that leaves the project.
package prompt

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/core/clip"
	"hermes/core/injection"
)

//go:embed texts
var texts embed.FS

// Options are everything that a prompt depends on, beside the files.
type Options struct {
	Home     string    // HERMES_HOME, for SOUL.md; "" for none
	Cwd      string    // absolute
	Tools    []string  // names of the tools that are offered
	System   string    // the machine: "linux/amd64"
	Surface  string    // where answers are read: "tui", "run"; "" says nothing
	Extra    string    // the caller's own instructions, first in the context tier
	Now      time.Time // only the day is used; zero leaves it out
	Model    string
	Session  string
	Backends []Backend
	Skills   string // the list of skills, scanned; in the stable tier
	Memory   string // what is remembered, framed and scanned; first in the volatile tier
	MaxFile  int    // runes of a project file; 0: 20,000
	NoFiles  bool   // leave project files out
}

// Backend is a back end as the prompt names it.
type Backend struct {
	Name, Kind, Image string
	Default           bool
}

// Prompt is the result.
type Prompt struct {
	Stable, Context, Volatile string
	Files                     []File
	Notices                   []string // for people: what was left out, cut or removed, and why
}

// File is a file that went into the prompt.
type File struct {
	Path    string // as it was found
	Runes   int    // of the whole text
	Cut     bool   // only its head and tail are in
	Removed int    // control and invisible characters
	Blocked string // why it is not in; empty when it is
}

// Text is the whole prompt, the slowest tier first.
func (p Prompt) Text() string {
	var parts []string
	for _, t := range []string{p.Stable, p.Context, p.Volatile} {
		if t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n\n")
}

// defaultMaxFile is how much of a project file goes into a prompt, in runes.
const defaultMaxFile = 20_000

// Build makes the prompt.
func Build(o Options) Prompt {
	if o.MaxFile <= 0 {
		o.MaxFile = defaultMaxFile
	}
	var p Prompt
	p.writeStable(o)
	p.writeContext(o)
	p.Volatile = strings.Trim(o.Memory+"\n\n"+volatileText(o), "\n")
	return p
}

func (p *Prompt) writeStable(o Options) {
	parts := []string{p.identityText(o), ownText("texts/working.md")}
	if guide := toolGuidance(o.Tools); guide != "" {
		parts = append(parts, "# Your tools\n\n"+guide)
	}
	if o.Skills != "" {
		parts = append(parts, ownText("texts/skills.md")+"\n\n<skills>\n"+strings.ReplaceAll(o.Skills, "</skills", "< /skills")+"\n</skills>")
	}
	parts = append(parts, environmentText(o))
	p.Stable = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// identityText is SOUL.md, which is the person's own: it may be a link to anywhere.
func (p *Prompt) identityText(o Options) string {
	if o.Home != "" {
		if text, ok := p.takeFile(homeFile(filepath.Join(o.Home, "SOUL.md")), o.MaxFile); ok && text != "" {
			return text
		}
	}
	return ownText("texts/identity.md")
}

// toolGuidance has a paragraph for each offered tool that has one, in the order of names.
func toolGuidance(tools []string) string {
	var out []string
	for _, t := range slices.Compact(slices.Sorted(slices.Values(tools))) {
		if text := ownText("texts/tools/" + t + ".md"); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

// ownText is one of our texts; "" when there is none of that name.
func ownText(name string) string {
	b, err := texts.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func environmentText(o Options) string {
	var out []string
	if o.System != "" {
		out = append(out, "- The agent itself runs on "+singleLine(o.System)+"; a back end may be another machine.")
	}
	switch o.Surface {
	case "tui":
		out = append(out, "- Answers are shown as Markdown in a terminal: short lines, small tables, no images, no HTML.")
	case "run":
		out = append(out, "- This is a single run without a screen: nobody can answer questions. Decide, and say what you decided.")
	}
	if out == nil {
		return ""
	}
	return "# Environment\n\n" + strings.Join(out, "\n")
}

func (p *Prompt) writeContext(o Options) {
	var parts []string
	if extra := strings.TrimSpace(o.Extra); extra != "" {
		parts = append(parts, extra)
	}
	if !o.NoFiles && o.Cwd != "" {
		if s := p.projectInstructions(o); s != "" {
			parts = append(parts, s)
		}
	}
	p.Context = strings.Join(parts, "\n\n")
}

const (
	sessionHeading = "# This session"
	modelLine      = "Model"
)

// NameModel returns a prompt that names another model, which is what answers now: a session may
// change it, and a fallback may take its place. A prompt that names none stays as it is.
func NameModel(text, model string) string {
	heading := strings.LastIndex(text, sessionHeading+"\n")
	mark := "\n- " + modelLine + ": "
	if heading < 0 || singleLine(model) == "" {
		return text
	}
	at := strings.Index(text[heading:], mark)
	if at < 0 {
		return text
	}
	at += heading + len(mark)
	_, rest, more := strings.Cut(text[at:], "\n")
	if more {
		rest = "\n" + rest
	}
	return text[:at] + singleLine(model) + rest
}

func volatileText(o Options) string {
	out := []string{sessionHeading, ""}
	add := func(name, value string) {
		if value = singleLine(value); value != "" {
			out = append(out, "- "+name+": "+value)
		}
	}
	if !o.Now.IsZero() {
		add("Date", o.Now.Format("Monday, 2 January 2006"))
	}
	add("Working folder", o.Cwd)
	add(modelLine, o.Model)
	add("Back ends", backendList(o.Backends))
	add("Session", o.Session)
	if len(out) == 2 {
		return ""
	}
	return strings.Join(out, "\n")
}

func backendList(list []Backend) string {
	var out []string
	for _, b := range list {
		s := b.Name
		if b.Kind != "" && b.Kind != b.Name {
			s += " (" + strings.TrimSpace(b.Kind+" "+b.Image) + ")"
		}
		if b.Default {
			s += " [default]"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// singleLine makes a value safe for one line: a folder's name may hold anything.
func singleLine(s string) string {
	s, _ = injection.Clean(s)
	s = strings.Join(strings.Fields(s), " ")
	const longest = 1000
	return clip.Runes(s, longest, "…")
}

func (p *Prompt) addNotice(format string, args ...any) {
	p.Notices = append(p.Notices, fmt.Sprintf(format, args...))
}
