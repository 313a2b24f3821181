package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"hermes/core/ownhome"
	"hermes/core/trust"
	"hermes/skills"
)

// Wish is what a skill asks to be passed to the commands and scripts of the sessions that load it,
// and what the person said to that. The answer is for the skill as it is: another byte in its
// folder, or another thing on the list, is another wish.
type Wish struct {
	Skill     string      `json:"-"`
	Variables []string    `json:"variables,omitempty"`
	Files     []string    `json:"files,omitempty"` // below the data folder
	State     trust.State `json:"state"`
	// Tainted says that the skill was written in a turn that had read strangers' words: a yes then
	// holds for one session.
	Tainted bool `json:"tainted,omitempty"`

	dir, hash string
}

// Same reports whether two wishes are of one skill with the same contents.
func (w Wish) Same(o Wish) bool { return w.dir == o.dir && w.hash == o.hash }

// ID names the wish of a skill with exactly these contents.
func (w Wish) ID() string { return w.dir + "\x00" + w.hash }

// Asks is what it wants, in words.
func (w Wish) Asks() string {
	var parts []string
	if len(w.Variables) > 0 {
		parts = append(parts, strings.Join(w.Variables, ", "))
	}
	if len(w.Files) > 0 {
		parts = append(parts, "the files "+strings.Join(w.Files, ", "))
	}
	return strings.Join(parts, " and ")
}

// WishOf returns what a skill asks for; nil when that is nothing. A skill whose files cannot be
// read whole can be granted nothing: that is the error.
func (l *Library) WishOf(s *skills.Skill) (*Wish, error) {
	w := &Wish{Skill: s.Name, dir: s.Dir, State: trust.Unasked}
	for _, v := range s.Env {
		if l.passable(v.Name) && !slices.Contains(w.Variables, v.Name) {
			w.Variables = append(w.Variables, v.Name)
		}
	}
	for _, f := range s.Credentials {
		if f = path.Clean(f); CheckCredential(f) == nil && !slices.Contains(w.Files, f) {
			w.Files = append(w.Files, f)
		}
	}
	if len(w.Variables)+len(w.Files) == 0 {
		return nil, nil //nolint:nilnil // it asks for nothing, which is no error
	}
	var err error
	if w.hash, err = s.Digest(); err != nil {
		return w, fmt.Errorf("nothing can be passed for the skill %s: %w", s.Name, err)
	}
	w.hash = w.hashOf(w.hash)
	if s.Source == skills.User {
		h, err := l.Edits.History(s.Name)
		w.Tainted = err != nil || slices.ContainsFunc(h.Versions, func(v skills.Version) bool { return v.Tainted })
	}
	if l.o.Grants == nil {
		return w, nil
	}
	w.State, err = l.o.Grants.State(w.dir, w.hash)
	return w, err
}

// hashOf is the hash of what the person says yes to: the folder, and the list that they are shown.
// What is on the list does not depend on the folder alone.
func (w *Wish) hashOf(folder string) string {
	sum := sha256.New()
	for _, list := range [][]string{{folder}, slices.Sorted(slices.Values(w.Variables)), slices.Sorted(slices.Values(w.Files))} {
		_, _ = fmt.Fprintf(sum, "%q\n", list) // it never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Grant keeps what the person said to a wish that they were shown. It fails when the skill has
// changed since.
func (l *Library) Grant(ctx context.Context, project string, shown *Wish, yes bool) error {
	s, err := l.Find(ctx, project, shown.Skill)
	if err != nil {
		return err
	}
	now, err := l.WishOf(s)
	switch {
	case err != nil:
		return err
	case now == nil || !now.Same(*shown):
		return fmt.Errorf("the skill %s has changed since it was shown; look at it again", shown.Skill)
	case l.o.Grants == nil:
		return fmt.Errorf("there is no place to keep that")
	}
	return l.o.Grants.Answer(now.dir, now.hash, yes)
}

// passable reports whether a skill may ask for a variable: the program's own are never passed, nor
// those that make other programs run something, nor what the settings say.
func (l *Library) passable(name string) bool {
	if l.o.Never != nil && l.o.Never(name) {
		return false
	}
	upper := strings.ToUpper(name)
	for _, begin := range []string{"HERMES_", "LD_", "DYLD_", "BASH_"} {
		if strings.HasPrefix(upper, begin) {
			return false
		}
	}
	return !slices.Contains([]string{"PATH", "HOME", "SHELL", "IFS", "ENV", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "PROMPT_COMMAND", "TMPDIR", "PWD"}, upper)
}

// CheckCredential says why a file cannot be passed to commands, or nil: it lies in the data folder,
// and is none of the program's own.
func CheckCredential(file string) error {
	file = path.Clean(file)
	switch {
	case path.IsAbs(file) || file == "." || strings.HasPrefix(file, "..") || strings.ContainsAny(file, "\x00\n~"):
		return fmt.Errorf("%q is no file below the data folder", file)
	case ownhome.Program(file):
		return fmt.Errorf("%s is the program's own and is never passed", file)
	}
	return nil
}
