// Package skill is what the agent and its person get of skills: found for a project, kept until
// something changes, scanned before a model reads them and before they are written. What a
// skill is on disk is package skills.
//
// The contract:
//
//   - A text with a hit of package injection never reaches a model, whole or in part; it stays on
//     disk as it is, and the hits come back with file and line, for the person. This holds for
//     descriptions (Index, List), for SKILL.md and for files beside it (View).
//   - What would be written is checked the same way before it is (Plan); with secrets in it it is
//     refused.
//   - Nothing is read before it is asked for, and what was read is kept until Changed.
//   - Project skills exist only while their project is trusted, see skills.Trust.
//
// All methods of Library are safe for concurrent use.
package skill

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"hermes/core/injection"
	"hermes/core/trust"
	"hermes/skills"
)

// Settings are those of the section skills.
type Settings struct {
	External []string // absolute folders
	Disabled []string
	Unasked  bool // skill_manage runs without being asked about
	Project  bool // projects may bring skills
}

// Options say where skills are. Home is required.
type Options struct {
	Home     string          // the skills folder of the home
	Trust    *skills.Trust   // nil: no project is trusted
	System   string          // "linux", "darwin"
	Settings func() Settings // asked again after Changed; nil: none
	// Seen reports whether commands and scripts see an environment variable; nil: those of this
	// process.
	Seen func(name string) bool
	// Set reports whether a variable has a value that could be passed; nil: as Seen.
	Set func(name string) bool
	// Never reports whether a variable is passed to nobody; nil: none is.
	Never func(name string) bool
	// Grants keeps which skills may have what they ask for passed; nil: none may.
	Grants *trust.Book
	// Told is called after every new version of a skill; nil: nobody wants to know.
	Told func(skills.Version)
	// Loaded is called when the text of a skill is given to a model, in a session where that is
	// known; nil: nobody wants to know.
	Loaded func(session string, s *skills.Skill)
}

// Library holds the skills of every project that was asked for.
type Library struct {
	o     Options
	Usage *skills.Usage
	Edits skills.Editor

	mu     sync.Mutex
	kept   map[string]*shelf  // by project
	scans  map[string]scanned // by file, so that a long list is scanned once
	loaded int                // counts Changed, so that what was loaded before one is not kept after it
}

// shelf is a catalog with what the scan of its descriptions found.
type shelf struct {
	*skills.Catalog
	hits map[string][]Hit // by the name of the skill

	procedures []Procedure
}

// maxKept bounds the projects of which skills are kept.
const maxKept = 16

// New returns a library; it reads nothing yet.
func New(o Options) *Library {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Seen == nil {
		o.Seen = func(name string) bool { return os.Getenv(name) != "" }
	}
	if o.Set == nil {
		o.Set = o.Seen
	}
	return &Library{o: o, Usage: skills.NewUsage(o.Home), Edits: skills.Editor{Dir: o.Home}, kept: map[string]*shelf{}, scans: map[string]scanned{}}
}

// Changed forgets what was read: the next question reads again.
func (l *Library) Changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.kept)
	l.loaded++
}

// Settings returns those in effect.
func (l *Library) Settings() Settings { return l.o.Settings() }

// Trust returns what projects are trusted; nil when none can be.
func (l *Library) Trust() *skills.Trust { return l.o.Trust }

// Places says where skills are looked for, for a project's root.
func (l *Library) Places(project string) skills.Options {
	s := l.o.Settings()
	o := skills.Options{Home: l.o.Home, External: s.External, Disabled: s.Disabled, Trust: l.o.Trust}
	if s.Project {
		o.Project = project
	}
	return o
}

// Catalog returns the skills for a project's root; "" for none. It may read the disk.
func (l *Library) Catalog(ctx context.Context, project string) *skills.Catalog {
	return l.shelfFor(ctx, project).Catalog
}

// Kept returns the skills that Catalog has read already, and which of them are blocked by their
// front matter; nil when it must be asked. It reads nothing.
func (l *Library) Kept(project string) (c *skills.Catalog, blocked func(name string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.kept[project]
	if s == nil {
		return nil, nil
	}
	return s.Catalog, func(name string) bool { return len(s.hits[name]) > 0 }
}

func (l *Library) shelfFor(ctx context.Context, project string) *shelf {
	l.mu.Lock()
	s, n := l.kept[project], l.loaded
	l.mu.Unlock()
	if s != nil {
		return s
	}
	s = &shelf{Catalog: skills.Load(ctx, l.Places(project)), hits: map[string][]Hit{}}
	for _, x := range s.Skills {
		if x.Source != skills.Builtin {
			s.hits[x.Name] = scanHead(x)
		}
	}
	s.procedures = l.readProcedures(s.Catalog)
	l.mu.Lock()
	defer l.mu.Unlock()
	if n != l.loaded || ctx.Err() != nil {
		return s
	}
	if len(l.kept) >= maxKept {
		clear(l.kept)
	}
	l.kept[project] = s
	return s
}

// Hit is a place in a skill that gives orders to the agent.
type Hit struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Span    [2]int `json:"span"` // bytes of the file, or of its text below the front matter
	Reason  string `json:"reason"`
	Excerpt string `json:"text"`
}

func (h Hit) String() string {
	return fmt.Sprintf("%s:%d: %s: %q", h.File, h.Line, h.Reason, h.Excerpt)
}

// Scan returns the hits in a text whose first line is line number first of file.
func Scan(file, text string, first int) []Hit {
	var out []Hit
	for _, f := range injection.ScanDocument(text) {
		out = append(out, Hit{
			File: file, Line: first + strings.Count(text[:f.Start], "\n"), Span: [2]int{f.Start, f.End}, Reason: f.Reason, Excerpt: injection.Excerpt(text, f),
		})
	}
	return out
}

// scanHead looks at what the front matter puts before a model. The hits are those of the file where
// they can be found there: YAML may write a text in many ways.
func scanHead(s *skills.Skill) []Hit {
	hits := Scan(s.Path(skills.File), headText(s), 1)
	if len(hits) == 0 {
		return nil
	}
	raw, err := s.Raw()
	if err != nil {
		return hits
	}
	inFile := slices.DeleteFunc(Scan(s.Path(skills.File), string(raw), 1), func(h Hit) bool { return h.Line >= s.BodyLine() })
	if len(inFile) == 0 {
		return hits
	}
	return inFile
}

func headText(s *skills.Skill) string {
	return strings.Join(slices.Concat([]string{s.Description, s.Category, s.Version}, s.Tags), "\n")
}

// Hits are those in the front matter of a skill.
func (l *Library) Hits(ctx context.Context, project, name string) []Hit {
	return l.shelfFor(ctx, project).hits[name]
}
