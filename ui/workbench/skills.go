package workbench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/agent"
	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/skill"
	view "hermes/panes/skills"
	"hermes/skills"
	"hermes/skills/procedure/request"
	"hermes/ui"
)

// knownSkills are the slash commands of the skills that were read last. Only the event loop uses
// it.
type knownSkills struct {
	of      *skills.Catalog
	project string
	actions []ui.Action
}

// skillCommands are the skills as slash commands. It reads nothing: skills that were not read yet,
// or are being read again, come later.
func (w *workbench) skillCommands() []ui.Action {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	k := &w.known
	if k.project == "" {
		k.project = app.Project()
	}
	c, blocked := app.Skills.Kept(k.project)
	if c == nil || c == k.of {
		return k.actions
	}
	k.of, k.actions = c, nil
	for _, s := range c.Skills {
		if s.Disabled || skills.Reserved(s.Name) || blocked(s.Name) {
			continue
		}
		k.actions = append(k.actions, ui.Action{
			ID: "skill." + s.Name, Slash: s.Name, Arg: "[what to do]", Title: "Skill: " + s.Description, Group: "skills",
			Run: func(arg string) tea.Cmd { return w.useSkill(s.Name, arg) },
		})
	}
	for _, p := range app.Skills.KeptProcedures(k.project) {
		if !skills.Reserved(p.Name) && c.Find(p.Name) == nil && !slices.Contains(app.Skills.Settings().Disabled, p.Name) {
			k.actions = append(k.actions, ui.Action{
				ID: "procedure." + p.Name, Slash: p.Name, Arg: "[key=value]", Title: "Procedure: " + p.Description, Group: "skills",
				Run: func(arg string) tea.Cmd { return w.runProcedure(p.Name, arg) },
			})
		}
	}
	return k.actions
}

// skillsAreComing says that the skills are still being read: not all of them are commands yet.
func (w *workbench) skillsAreComing() bool {
	app, ok := w.boot.appIfReady()
	if !ok {
		return true
	}
	c, _ := app.Skills.Kept(app.Project())
	return c == nil
}

// runProcedure asks for a procedure in the words that no model need read.
func (w *workbench) runProcedure(name, arg string) tea.Cmd {
	text := strings.TrimSpace("run procedure " + name + " " + strings.TrimSpace(arg))
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		if _, ok := request.Parse(text); !ok {
			return nil, fmt.Errorf("/%s takes key=value, --dry-run and --resume ID", name)
		}
		return nil, app.Submit(ctx, uid, agent.Input{From: chat.Person(), Text: text})
	})
}

// skillNames completes the argument of /skills.
func (w *workbench) skillNames(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		known, _ := app.Skills.Kept(app.Project())
		if known == nil { // they are still read
			return nil
		}
		for _, s := range known.Skills {
			out = append(out, s.Name)
		}
		for _, p := range app.Skills.KeptProcedures(app.Project()) {
			out = append(out, p.Name)
		}
		return out
	})
}

// useSkill puts a skill into the next message of the session.
func (w *workbench) useSkill(name, words string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		return nil, app.SubmitSkill(ctx, uid, name, agent.Input{From: chat.Person(), Text: words})
	})
}

// skillsOverlay shows all skills, on the one that is named.
func (w *workbench) skillsOverlay(name string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		return ui.ShowOverlay{Overlay: view.New(w.skillActions(), w.skillRows(ctx, app), name)}, nil
	})
}

// atOnce is how many skills are scanned before the overlay is shown; more are scanned behind it, at
// the first key.
const atOnce = 40

func (w *workbench) skillRows(ctx context.Context, app *core.App) view.Listed {
	project := app.Project()
	c := app.Skills.Catalog(ctx, project)
	m := view.Listed{Brought: c.Project, Later: len(c.Skills) > atOnce}
	if m.Later {
		m.Rows = app.Skills.Glance(ctx, project)
	} else {
		m.Rows = app.Skills.Rows(ctx, project)
	}
	return m
}

// skillActions are what the overlay can do.
func (w *workbench) skillActions() view.Actions {
	again := func(f func(ctx context.Context, app *core.App) error) tea.Cmd {
		return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
			if err := f(ctx, app); err != nil {
				return nil, err
			}
			app.RereadSkills(ctx)
			return w.skillRows(ctx, app), nil
		})
	}
	return view.Actions{
		Scan: func() tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				return view.Listed{Rows: app.Skills.Rows(ctx, app.Project()), Brought: app.Skills.Catalog(ctx, app.Project()).Project}, nil
			})
		},
		Use: beginUse,
		Grant: func(wish *skill.Wish, yes bool) tea.Cmd {
			return again(func(ctx context.Context, app *core.App) error { return app.Skills.Grant(ctx, app.Project(), wish, yes) })
		},
		Read: readSkill,
		Toggle: func(r skill.Row) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				// The watcher of the settings sees it, and the skills are read again with them.
				if err := core.SwitchSkills(app.Config(), r.State == skill.Off, r.Name); err != nil {
					return nil, err
				}
				return view.Switched{Name: r.Name, On: r.State == skill.Off}, nil
			})
		},
		Edit: func(r skill.Row) tea.Cmd { return w.editSkill(r.Name, r.File, firstFaultLine(r)) },
		Create: func(name string) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				c, err := app.Skills.Plan(ctx, skills.Request{Op: skills.Create, Name: name, Content: skills.Template(name, "")})
				if err != nil {
					return nil, err
				}
				if err := app.Skills.Apply(c, "user"); err != nil {
					return nil, err
				}
				return w.editSkill(name, c.Path(), 3)(), nil
			})
		},
		Trust: func(b *skills.Brought, yes bool) tea.Cmd {
			return again(func(_ context.Context, app *core.App) error {
				places := app.Skills.Places(app.Project())
				if yes {
					return app.Skills.Trust().Accept(places, b)
				}
				return app.Skills.Trust().Refuse(places, b)
			})
		},
		Untrust: func(b *skills.Brought) tea.Cmd {
			return again(func(_ context.Context, app *core.App) error {
				_, err := app.Skills.Trust().Revoke(b.Folder)
				return err
			})
		},
		History: w.skillHistory, Undo: w.undoSkill, Rollback: w.rollbackSkill,
		Preview: func(b *skills.Brought) tea.Cmd {
			return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
				m := view.Previewed{Of: b}
				for _, s := range app.Skills.Places(app.Project()).Preview(ctx, b) {
					m.Theirs = append(m.Theirs, view.Inspect(s))
				}
				return m, nil
			})
		},
	}
}

// beginUse writes the command that uses a skill or runs a procedure.
func beginUse(r skill.Row) tea.Cmd {
	text := "/" + r.Name + " "
	if r.Procedure != nil {
		text = "run procedure " + r.Name + " " // a skill may have its name
	}
	return func() tea.Msg { return ui.BeginText{Text: text} }
}

// readSkill brings the text of a skill or procedure.
func readSkill(r skill.Row) tea.Cmd {
	return func() tea.Msg {
		if r.Procedure != nil {
			return view.TextRead{File: r.File, Body: "~~~~yaml\n" + r.Procedure.Text + "\n~~~~"}
		}
		body, err := r.Skill.Read("")
		if err != nil {
			body = err.Error()
		}
		return view.TextRead{File: r.File, Body: body, Files: r.Skill.Files()}
	}
}

func (w *workbench) skillHistory(name string) tea.Cmd {
	return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		return versionsOf(app, name)
	})
}

func (w *workbench) undoSkill(name string) tea.Cmd {
	return w.goBack(name, func(app *core.App) (string, error) {
		what, err := app.Skills.Undo(name)
		return "taken back: " + what, err
	})
}

func (w *workbench) rollbackSkill(name string, to int) tea.Cmd {
	return w.goBack(name, func(app *core.App) (string, error) {
		v, err := app.Skills.Rollback(name, to, skills.Provenance{By: "user"})
		return fmt.Sprintf("%s is as at version %d; that is version %d", name, to, v.Number), err
	})
}

// goBack takes a skill back; the list and its versions are shown as they are then.
func (w *workbench) goBack(name string, back func(app *core.App) (said string, err error)) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		said, err := back(app)
		if err != nil {
			return nil, err
		}
		app.RereadSkills(ctx)
		past, err := versionsOf(app, name)
		if err != nil {
			return nil, err
		}
		return tea.BatchMsg{
			func() tea.Msg { return w.skillRows(ctx, app) },
			func() tea.Msg { return past },
			func() tea.Msg { return ui.Toast(event.Info, "%s", said) },
		}, nil
	})
}

// versionsOf are the versions of a skill for the overlay.
func versionsOf(app *core.App, name string) (view.Versions, error) {
	h, err := app.Skills.Edits.History(name)
	if err == nil && len(h.Versions) == 0 {
		err = fmt.Errorf("no change of %s is kept yet", skills.DescribeKey(name))
	}
	out := view.Versions{Name: name}
	for _, v := range slices.Backward(h.Versions) {
		row := view.VersionRow{Number: v.Number, Why: v.Why, Line: v.At.Local().Format("2006-01-02 15:04") + "  " + string(v.Op)}
		if v.Op == skills.Undo || v.Op == skills.Rollback {
			row.Line += fmt.Sprintf(" to v%d", v.To)
		}
		if v.By != "" {
			row.Line += "  by " + v.By
		}
		for _, d := range skill.Compare(h, v.Number-1, v.Number) {
			row.Diff += d.Unified
			row.Line += fmt.Sprintf("  +%d -%d", d.Added, d.Removed)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, err
}

// firstFaultLine is where an editor opens a skill: at the first thing that is wrong.
func firstFaultLine(r skill.Row) int {
	for _, p := range r.Problems {
		if p.Line > 0 {
			return p.Line
		}
	}
	if len(r.Hits) > 0 {
		return r.Hits[0].Line
	}
	return 0
}

// editSkill opens a SKILL.md; afterwards the overlay comes back.
func (w *workbench) editSkill(name, file string, at int) tea.Cmd {
	return func() tea.Msg {
		return ui.RunProcess{Cmd: editorCommand(file, at), Done: func(err error) tea.Msg {
			if err != nil {
				return ui.Toast(event.Error, "editor: %v; set VISUAL or EDITOR to the editor that you want", err)
			}
			if app, ok := w.boot.appIfReady(); ok {
				app.Skills.Changed()
			}
			return ui.RunAction{ID: "skills", Arg: name}
		}}
	}
}
