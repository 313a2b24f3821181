package skill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes/core/injection"
	"hermes/core/nearest"
	"hermes/skills"
)

// View is a file of a skill as a model may read it.
type View struct {
	Skill *skills.Skill
	File  string // "" is SKILL.md
	Text  string // without what nobody can see; "" when it is blocked
	Hits  []Hit  // why it is blocked
	Files []string
	// Missing are variables that the skill wants and that commands do not get.
	Missing []string
	// Wish is what it asks to be passed to commands; nil when that is nothing.
	Wish *Wish
}

// Blocked reports whether the text is kept from models.
func (v View) Blocked() bool { return len(v.Hits) > 0 }

// Find returns a skill that a model or a slash command may use. The error says what else there is.
func (l *Library) Find(ctx context.Context, project, name string) (*skills.Skill, error) {
	c := l.Catalog(ctx, project)
	s := c.Find(name)
	switch {
	case s == nil:
		return nil, l.missingError(c, name)
	case s.Disabled:
		return nil, fmt.Errorf("the skill %s is switched off; `hermes skills enable %s` switches it on", name, name)
	default:
		return s, nil
	}
}

func (l *Library) missingError(c *skills.Catalog, name string) error {
	for _, b := range c.Broken {
		if b.Name == name && len(b.Problems) > 0 {
			return fmt.Errorf("the skill %s cannot be used: %w", name, b.Problems[0])
		}
	}
	if skills.CheckName(name) != nil {
		return fmt.Errorf("there is no skill of that name; a name has the letters a to z, digits, and - _ . between them")
	}
	var names []string
	for _, s := range c.Skills {
		names = append(names, s.Name)
	}
	hint := "; `hermes skills` and skills_list show what there is"
	if near, ok := nearest.Name(name, names); ok {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Errorf("there is no skill %s%s", name, hint)
}

// View reads a file of a skill, "" being SKILL.md.
func (l *Library) View(ctx context.Context, project, name, file string) (View, error) {
	s, err := l.Find(ctx, project, name)
	if err != nil {
		return View{}, err
	}
	v := View{Skill: s, File: file}
	text, err := s.Read(file)
	if err != nil {
		return v, fmt.Errorf("skill %s: %w", name, err)
	}
	first := 1
	if file == "" {
		first = s.BodyLine()
		v.Files = safeFiles(s)
		v.Missing = l.missingOf(s.Env)
		if v.Wish, err = l.WishOf(s); err != nil {
			v.Wish = nil // the first command says why
		}
	}
	if s.Source != skills.Builtin {
		if file == "" {
			v.Hits = l.Hits(ctx, project, name)
		}
		v.Hits = append(slices.Clone(v.Hits), Scan(s.Path(orHead(file)), text, first)...)
	}
	if !v.Blocked() {
		v.Text, _ = injection.Clean(text)
		v.Text = strings.TrimSpace(v.Text)
	}
	return v, nil
}

func orHead(file string) string {
	if file == "" {
		return skills.File
	}
	return file
}

// safeFiles lists what lies beside SKILL.md: a file's name is text for the model, too.
func safeFiles(s *skills.Skill) []string {
	return slices.DeleteFunc(s.Files(), func(f string) bool {
		return len(injection.ScanDocument(strings.NewReplacer("-", " ", "_", " ", "/", " ").Replace(f))) > 0
	})
}

func (l *Library) missingOf(want []skills.Variable) []string {
	var out []string
	for _, v := range want {
		if !l.o.Seen(v.Name) && (!l.passable(v.Name) || !l.o.Set(v.Name)) {
			out = append(out, v.Name)
		}
	}
	return out
}

// Told says to a model why it does not see a text; the person is told where to look by Notice.
func (v View) Told() string {
	return fmt.Sprintf("[BLOCKED: %s of the skill %s %s (line %d). It is not shown to you, and the person was told. Go on without it.]",
		orHead(v.File), v.Skill.Name, v.Hits[0].Reason, v.Hits[0].Line)
}

// Notice says to the person what was blocked and where.
func (v View) Notice() (text, hint string) {
	return fmt.Sprintf("skill %s is blocked: %s", v.Skill.Name, v.Hits[0]), "nothing was changed on disk; `hermes skills check " + v.Skill.Name + "` shows all hits"
}
