package learn

import (
	"context"
	"slices"
	"strings"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/skills/procedure"
)

// text is what is learned about and may be changed: a SKILL.md or a procedure of the person's own
// folder. Everything else here knows texts by their key (package skills) only.
type text interface {
	// kind is what it is: "skill", "procedure".
	kind() string
	// read returns it as it stands.
	read() ([]byte, error)
	// lockedLines is how many of its first lines no change may name.
	lockedLines(lines []string) int
	// wantedFor returns the turns for which a change of it is to be looked at, now that one used it;
	// nil: for none.
	wantedFor(st *state, x Experience, used Loaded) []string
	// checkLearned refuses a change that goes too far; asks is why another one waits for the person.
	checkLearned(before, after string) (asks []string, err error)
	// standing says why no change is proposed, and why what is proposed waits for the person in every
	// mode; "" for nothing of that.
	standing() (closed, waits string)
	// metricsOf are the words for what its runs are measured by.
	metricsOf() []string
	// checks are its own, which can be run without a model.
	checks() ([]skills.Eval, error)
}

// ownText is a text of the person's folder, nil when there is none of that key.
func (l *Learner) ownText(key string) text {
	name, isProcedure := skills.SplitKey(key)
	if isProcedure {
		if p := l.o.Library.OwnProcedure(context.Background(), name); p != nil {
			return procedureText{p}
		}
		return nil
	}
	if s := l.o.Library.Catalog(context.Background(), "").Find(name); s != nil && s.Source == skills.User {
		return skillText{s}
	}
	return nil
}

// readText returns a text of the person's folder as it stands, nil when there is none.
func (l *Learner) readText(key string) ([]byte, error) {
	if own := l.ownText(key); own != nil {
		return own.read()
	}
	return nil, nil
}

// isPinned reports whether a text is left alone.
func (s Settings) isPinned(key string) bool {
	name, _ := skills.SplitKey(key)
	return slices.Contains(s.Pinned, key) || slices.Contains(s.Pinned, name)
}

// skillText is a SKILL.md.
type skillText struct{ s *skills.Skill }

func (t skillText) kind() string                   { return "skill" }
func (t skillText) read() ([]byte, error)          { return t.s.Raw() }
func (t skillText) lockedLines(lines []string) int { return headLines(lines) }
func (t skillText) standing() (closed, waits string) {
	return "", ""
}
func (t skillText) metricsOf() []string { return nil }

func (t skillText) checks() ([]skills.Eval, error) {
	_, list, err := t.s.ReadEvals()
	return list, err
}

func (t skillText) checkLearned(string, string) ([]string, error) { return nil, nil }

// wantedFor is for each turn that came out bad.
func (t skillText) wantedFor(_ *state, x Experience, _ Loaded) []string {
	if x.Outcome == Bad {
		return []string{x.ID}
	}
	return nil
}

// procedureText is the YAML of a procedure.
type procedureText struct{ p *skill.Procedure }

func (t procedureText) kind() string                   { return "procedure" }
func (t procedureText) read() ([]byte, error)          { return t.p.Read() }
func (t procedureText) lockedLines([]string) int       { return 0 }
func (t procedureText) checks() ([]skills.Eval, error) { return nil, nil }

// parsed is the procedure as it stands, nil when it cannot be read.
func (t procedureText) parsed() *procedure.Procedure {
	raw, err := t.read()
	if err != nil {
		return nil
	}
	return procedure.Parse(t.p.File, raw)
}

func (t procedureText) standing() (closed, waits string) {
	p := t.parsed()
	switch {
	case p == nil || !p.Usable():
		return "it cannot be read", ""
	case !p.Improvement.Given: // its versions are compared all the same
		return "it has no section improvement", ""
	default:
		return "", p.Improvement.Waits()
	}
}

func (t procedureText) metricsOf() []string {
	if p := t.parsed(); p != nil {
		return p.Improvement.Metrics
	}
	return nil
}

// wantedFor is for the bad turns of the version that stands there, once it was judged as often as
// it says itself.
func (t procedureText) wantedFor(st *state, x Experience, used Loaded) (out []string) {
	raw, err := t.read()
	if err != nil || used.Hash != skills.HashOf(raw) {
		return nil
	}
	p := procedure.Parse(t.p.File, raw)
	u := st.Outcomes[used.Name][used.Hash]
	if !p.Improvement.Given || u.Good+u.Bad < float64(p.Improvement.MinSamples) {
		return nil
	}
	for _, y := range st.Experiences {
		if y.Outcome == Bad && (!y.Used || y.ID == x.ID) && y.used(used.Name, used.Hash) {
			out = append(out, y.ID)
		}
	}
	return out
}

func (t procedureText) checkLearned(before, after string) ([]string, error) {
	return procedure.CheckLearned(procedure.Parse(t.p.File, []byte(before)), procedure.Parse(t.p.File, []byte(after)))
}

// used reports whether a turn used a text.
func (x Experience) used(key, hash string) bool {
	return slices.ContainsFunc(x.Skills, func(k Loaded) bool { return k.Name == key && k.Hash == hash })
}

// joinReasons is why something waits, in one line.
func joinReasons(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "; ")
}
