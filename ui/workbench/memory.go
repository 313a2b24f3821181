package workbench

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	store "hermes/core/memory"
	"hermes/panes/memory"
	"hermes/ui"
	"hermes/ui/text"
)

// memoryActions are what a person does with what the agent remembers.
func (w *workbench) memoryActions() []ui.Action {
	return []ui.Action{
		{
			ID: "memory", Keys: []string{"alt+r"}, Slash: "memory", Arg: "[undo]", Title: "What the agent remembers", Group: "program",
			Help: "Look at it, add, change, forget; \"undo\" takes the last change back.", Run: w.openMemory, Complete: completeChoices("undo"),
		},
		{
			ID: "memory.remember", Slash: "remember", Arg: "text", Title: "Remember something", Group: "program",
			Help: "Your words go into MEMORY.md; what begins with I, my or \"me:\" is about you and goes into USER.md.", Run: w.rememberText,
		},
		{
			ID: "memory.recall", Slash: "recall", Arg: "[query]", Title: "What long-term memory knows", Group: "program",
			Help: "What answers a question, with its score and origin; change or forget it there. Alone it lists all.", Run: w.showRecall,
		},
	}
}

// openMemory opens the pane.
func (w *workbench) openMemory(arg string) tea.Cmd {
	if strings.TrimSpace(arg) == "undo" {
		return w.runInApp(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
			said, err := undoMemory(app, uid)
			return ui.Toast(event.Info, "%s", said), err
		})
	}
	return w.runInApp(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		if err := app.FollowMemory(); err != nil {
			app.Events().Publish(event.Header{Session: uid}, event.Notice{Level: event.Warn, Text: "changes of the memory files by others are not seen: " + err.Error()})
		}
		return ui.OpenPane{Pane: memory.New(remembered{app, uid})}, nil
	})
}

// rememberText keeps what a person typed.
func (w *workbench) rememberText(arg string) tea.Cmd {
	target, words := meantTarget(arg)
	c := memory.Change{Target: string(target), New: words}
	if c.New == "" {
		return func() tea.Msg {
			return ui.Toast(event.Warn, "write what is to be remembered behind it: /remember the staging server is vega")
		}
	}
	return w.keepChange(c)
}

// meantTarget is where a person's words belong: "me:" and "notes:" say it, and what begins with I
// or my is about the person.
func meantTarget(arg string) (store.Target, string) {
	arg = strings.TrimSpace(arg)
	if name, rest, ok := strings.Cut(arg, ":"); ok {
		switch strings.ToLower(name) {
		case "me", "user":
			return store.User, strings.TrimSpace(rest)
		case "notes":
			return store.Notes, strings.TrimSpace(rest)
		}
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(arg, "’", "'"), " ")
	switch strings.ToLower(first) {
	case "i", "i'm", "i've", "i'd", "i'll", "my":
		return store.User, arg
	}
	return store.Notes, arg
}

// keepChange makes a change of a person's. What looks like orders is asked about.
func (w *workbench) keepChange(c memory.Change) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		said, refused, err := remembered{app, uid}.Do(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case refused == nil:
			return ui.Toast(event.Info, "%s", said), nil
		case !refused.Doubtful:
			return nil, fmt.Errorf("%s", refused.Reason)
		}
		anyway := c
		anyway.Anyway = true
		return ui.ShowOverlay{Overlay: ui.NewPicker(ui.PickerOptions{
			Title: "Keep this?", Hint: "enter choose  esc leave it",
			Items: []ui.Item{
				{ID: "no", Title: "No", Detail: text.OneLine(refused.Reason)},
				{ID: "yes", Title: "Keep it in the file", Detail: "it stays out of the prompt: the agent never reads it"},
			},
			Choose: func(it ui.Item) tea.Cmd {
				if it.ID == "yes" {
					return w.keepChange(anyway)
				}
				return nil
			},
		})}, nil
	})
}

// remembered gives the memory pane the files.
type remembered struct {
	app *core.App
	uid string
}

var _ memory.Store = remembered{}

// Load implements memory.Store.
func (r remembered) Load(context.Context) ([]memory.File, error) {
	var out []memory.File
	for _, t := range store.Targets() {
		d, err := r.app.Memory.Load(t)
		f := memory.File{Target: string(t), Name: t.File(), Path: d.Path, Used: d.Used, Limit: d.Limit}
		if err != nil {
			f.Problem = err.Error()
		}
		for _, e := range d.Entries {
			x := memory.Entry{Text: e.Text, Line: e.Line}
			if e.Blocked() {
				h := e.Hits[0]
				x.Blocked, x.Span = fmt.Sprintf("%s: %q", h.Reason, h.Text), [2]int{h.Start, h.End}
			}
			f.Entries = append(f.Entries, x)
		}
		out = append(out, f)
	}
	return append(out, r.userModelFile()), nil
}

// Do implements memory.Store.
func (r remembered) Do(_ context.Context, c memory.Change) (string, *memory.Refused, error) {
	if c.Target == memory.UserModel {
		return r.changeKnown(c)
	}
	op := store.Op{Action: store.Replace, Content: c.New, OldText: c.Old}
	switch {
	case c.Old == "":
		op.Action = store.Add
	case c.New == "":
		op.Action = store.Remove
	}
	done, err := r.app.Memory.Apply(store.Target(c.Target), []store.Op{op}, "person", store.Rules{Anything: c.Anyway})
	if refusal := store.AsRefusal(err); refusal != nil {
		return "", &memory.Refused{Reason: refusal.Said(), Doubtful: refusal.Why == store.Injected}, nil
	}
	if err != nil {
		return "", nil, err
	}
	r.app.Remembered(r.uid, done, event.MemoryWritten)
	return changeInWords(done), nil, nil
}

// changeInWords is a change in words.
func changeInWords(c store.Change) string {
	if c.Nothing() {
		return strings.Join(append(c.Notes, "nothing was changed"), "; ")
	}
	return fmt.Sprintf("%s: %s; new sessions know", c.Target.File(), c.After.Usage())
}

// Undo implements memory.Store.
func (r remembered) Undo(context.Context) (string, error) { return undoMemory(r.app, r.uid) }

func undoMemory(app *core.App, uid string) (string, error) {
	done, err := app.Memory.Undo("", false)
	if r := store.AsRefusal(err); r != nil {
		return "", fmt.Errorf("%s; `hermes memory undo --force` does it all the same", r.Text)
	}
	if err != nil {
		return "", err
	}
	app.Remembered(uid, done, event.MemoryUndone)
	return "taken back. " + done.Target.File() + ": " + done.After.Usage(), nil
}

// Open implements memory.Store.
func (r remembered) Open(target string, line int) tea.Msg {
	if target == memory.UserModel {
		return ui.Toast(event.Info, "change it here, or with hermes memory user")
	}
	t := store.Target(target)
	if err := r.app.Memory.Ensure(t); err != nil {
		return ui.Toast(event.Error, "%v", err)
	}
	return ui.RunProcess{
		Cmd: editorCommand(r.app.Memory.Path(t), line),
		Done: func(err error) tea.Msg {
			if err != nil {
				return ui.Toast(event.Error, "editor: %v; set VISUAL or EDITOR to the editor that you want",
					err)
			}
			return nil
		},
	}
}
