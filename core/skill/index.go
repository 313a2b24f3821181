package skill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes/core/clip"
	"hermes/core/injection"
	"hermes/skills"
)

// indexBytes bounds the index in the system prompt, at four bytes a token: about 3,000 tokens. A
// description in it is cut.
const (
	indexBytes = 12_000
	indexLine  = 240 // characters of a description
)

// Audience is who an index is for.
type Audience struct {
	Toolsets, Tools []string // names that are offered
}

// Entry is a skill as models see it before they read it.
type Entry struct {
	Name, Category, Description string
	Tags                        []string
	Builtin, Starter            bool
}

// List returns the skills that fit, by category and name, and what was left out because of what
// stands in its front matter.
func (l *Library) List(ctx context.Context, project string, a Audience) (out []Entry, blocked []Hit) {
	s := l.shelfFor(ctx, project)
	for _, x := range s.Skills {
		if x.Disabled {
			continue
		}
		if hits := s.hits[x.Name]; len(hits) > 0 {
			blocked = append(blocked, hits[0])
			continue
		}
		if _, ok := x.Fits(l.o.System, a.Toolsets, a.Tools); !ok {
			continue
		}
		out = append(out, entryOf(x))
	}
	slices.SortFunc(out, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Category, y.Category), cmp.Compare(x.Name, y.Name))
	})
	return out, blocked
}

func entryOf(s *skills.Skill) Entry {
	return Entry{
		Name: s.Name, Category: cmp.Or(s.Category, "general"), Description: oneLine(s.Description),
		Tags: s.Tags, Builtin: s.Source == skills.Builtin, Starter: s.Starter,
	}
}

func oneLine(s string) string {
	s, _ = injection.Clean(s)
	return strings.Join(strings.Fields(s), " ")
}

// Index is the list of skills for a system prompt, "" when there is none, and what the person
// should know about it.
func (l *Library) Index(ctx context.Context, project string, a Audience) (text string, notices []string) {
	entries, blocked := l.List(ctx, project, a)
	for _, h := range blocked {
		notices = append(notices, fmt.Sprintf("a skill is kept out of the prompt: %s; `hermes skills check` shows all hits", h))
	}
	c := l.Catalog(ctx, project)
	if b := c.Project; b != nil && (b.State == skills.Unasked || b.State == skills.Changed) {
		notices = append(notices, Untrusted(b))
	}
	if broken := brokenNotice(c); broken != "" {
		notices = append(notices, broken)
	}
	active := chooseActive(entries, l.Usage.All())
	return renderIndex(active, len(entries)-len(active)), notices
}

// Untrusted says that a project brings skills that are not read.
func Untrusted(b *skills.Brought) string {
	what := "brings skills that are not trusted"
	if b.State == skills.Changed {
		what = "has changed its skills since they were trusted"
	}
	text := fmt.Sprintf("%s %s (%s): they are not read. /skills or `hermes skills trust` shows them and asks", b.Folder, what, nameFew(b.Skills))
	if b.Why != "" {
		text += "; they cannot be trusted as they are: " + b.Why
	}
	return text
}

func nameFew(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// brokenNotice says how many skills cannot be used, and why the first one.
func brokenNotice(c *skills.Catalog) string {
	files, first := map[string]bool{}, ""
	for _, p := range c.Problems {
		if p.Fatal {
			if len(files) == 0 {
				first = p.Error()
			}
			files[p.File] = true
		}
	}
	switch len(files) {
	case 0:
		return ""
	case 1:
		return "a skill cannot be used: " + first
	default:
		return fmt.Sprintf("%d skills cannot be used, the first: %s; `hermes skills check` shows all", len(files), first)
	}
}

// renderIndex lists entries by category within the bound, and says how many more there are.
func renderIndex(entries []Entry, left int) string {
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	category := ""
	for i, e := range entries {
		line := fmt.Sprintf("- %s: %s\n", e.Name, clip.Runes(e.Description, indexLine, "…"))
		if e.Category != category {
			line = e.Category + ":\n" + line
		}
		if b.Len()+len(line) > indexBytes {
			left += len(entries) - i
			break
		}
		category = e.Category
		b.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&b, "(%d more for other tasks: skills_list with a query finds them)\n", left)
	}
	return strings.TrimSpace(b.String())
}
