package skill

import (
	"context"
	"fmt"
	"strings"

	"hermes/core/chat"
)

// Use returns a skill as a part of the person's own message: what a slash command and `run --skill`
// put into a turn. A blocked skill is an error that says where the hit is.
func (l *Library) Use(ctx context.Context, project, name string) (chat.Part, error) {
	v, err := l.View(ctx, project, name, "")
	if err != nil {
		return chat.Part{}, err
	}
	if v.Blocked() {
		text, hint := v.Notice()
		return chat.Part{}, fmt.Errorf("%s; %s", text, hint)
	}
	_ = l.Usage.Used(name) // a count that is lost harms nobody
	l.Loaded("", v)
	return chat.Part{Kind: chat.PartSkill, Name: "skill " + name, Media: "text/markdown", Text: strings.ReplaceAll(v.Document(), "</attachment", "< /attachment")}, nil
}

// Loaded says that a model is given what a view shows; session is "" where it is not known yet.
func (l *Library) Loaded(session string, v View) {
	if l.o.Loaded != nil && v.File == "" {
		l.o.Loaded(session, v.Skill)
	}
}

// Document is the text of a view with what a model needs to know around it.
func (v View) Document() string {
	var b strings.Builder
	s := v.Skill
	fmt.Fprintf(&b, "Skill %s", s.Name)
	if v.File != "" {
		fmt.Fprintf(&b, ", file %s\n\n%s\n", v.File, v.Text)
		return b.String()
	}
	fmt.Fprintf(&b, ": %s\n\n%s\n", oneLine(s.Description), v.Text)
	if len(v.Files) > 0 {
		fmt.Fprintf(&b, "\nFiles of this skill, read with skill_view(name=%q, file_path=...): %s\n", s.Name, strings.Join(v.Files, ", "))
	}
	if len(s.Servers) > 0 {
		fmt.Fprintf(&b, "\nThis skill works with the servers of tools %s. What they bring is yours once they are connected and the person has taken it (/tools).\n", oneLine(strings.Join(s.Servers, ", ")))
	}
	if len(v.Missing) > 0 {
		fmt.Fprintf(&b, "\nThis skill wants environment variables that commands do not get: %s. They are not set, which the person can do in .env, or never passed, as keys of model providers.\n", strings.Join(v.Missing, ", "))
	}
	if v.Wish != nil {
		fmt.Fprintf(&b, "\nCommands and scripts of this session get %s when the person lets them; they are asked with the first command.\n", v.Wish.Asks())
		if len(v.Wish.Files) > 0 {
			b.WriteString("Copies of the files are in the folder that $HERMES_CREDENTIALS names.\n")
		}
	}
	return b.String()
}
