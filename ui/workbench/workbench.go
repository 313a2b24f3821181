package workbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/crash"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/core/session"
	"hermes/panes/backends"
	"hermes/panes/conversation"
	"hermes/panes/memory"
	"hermes/panes/output"
	"hermes/panes/sessions"
	"hermes/panes/shell"
	"hermes/ui"
	"hermes/ui/compose"
)

// closeTimeout bounds how long leaving the program takes.
const closeTimeout = 5 * time.Second

// Options say what to open.
type Options struct {
	Core    core.Options
	Session string // what Service.Resolve takes; empty for a new session
	// Prompt is sent to it at once; empty for none.
	Prompt string
	// CommandLine are the names of the commands of the command line, for who types one of them here.
	CommandLine []string
	// UI is merged into what the workbench sets itself: streams, sizes and the environment, for tests.
	UI ui.Options
	// Started, when set, hears the screen just before it runs, for tests.
	Started func(*ui.Program)
}

// Run opens the workbench and returns once the person has left it and everything is closed.
func Run(ctx context.Context, o Options) (err error) {
	w, err := openWorkbench(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		said := w.farewellText(end)
		err = errors.Join(err, w.boot.closeApp(end))
		out := o.UI.Output
		if out == nil {
			out = os.Stdout
		}
		fmt.Fprint(out, said)
	}()
	if o.Started != nil {
		o.Started(w.program)
	}
	return w.program.Run(ctx)
}

// workbench is the screen and the program behind it.
type workbench struct {
	boot    *booting
	program *ui.Program
	slash   *ui.Slash
	options Options
	ready   chan struct{} // closed once program is there, or will never be
	known   knownSkills
}

func openWorkbench(ctx context.Context, o Options) (*workbench, error) {
	o.Core.Session.Source = "tui"
	w := &workbench{slash: &ui.Slash{}, options: o, ready: make(chan struct{})}
	o.Core.Changed = w.applySettings
	w.boot = startBoot(ctx, o.Core, w.programOpened)
	first := session.NewUID()
	if o.Session != "" {
		uid, err := w.resolveSession(ctx, o.Session)
		if err != nil {
			close(w.ready)
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
			defer cancel()
			return nil, errors.Join(err, w.boot.closeApp(end))
		}
		first = uid
	}
	w.keepFirstPrompt(o.Prompt)
	w.program = ui.New(w.uiOptions(first))
	close(w.ready)
	if o.Prompt != "" {
		crash.Go("first prompt", func() { w.firstPrompt(ctx, first, o.Prompt) })
	}
	unknown, conflicts := KeyProblems(o.Core.Config.Keys)
	for _, p := range append(unknown, conflicts...) {
		o.Core.Bus.Publish(event.Header{}, event.Notice{Level: event.Warn, Text: p, Hint: "look at the keys: section of config.yaml"})
	}
	return w, nil
}

// resolveSession turns what a person wrote into a session. Only then the screen waits for the
// store.
func (w *workbench) resolveSession(ctx context.Context, ref string) (string, error) {
	app, err := w.boot.waitForApp(ctx)
	if err != nil {
		return "", err
	}
	info, err := app.History().Resolve(ctx, ref)
	return info.UID, err
}

// applySettings applies edited settings to the screen. It is not called from the event loop.
func (w *workbench) applySettings(c *config.Config) {
	if <-w.ready; w.program == nil {
		return
	}
	w.program.SetTheme(c.Display.Theme)
	w.program.SetKeys(c.Keys)
}

// programOpened tells the screen how opening went. It listens already, or will in a moment: to go
// on with a session waits for the store, and what is said before anybody listens is lost.
func (w *workbench) programOpened(app *core.App, err error) {
	if <-w.ready; w.program == nil {
		return
	}
	if err != nil {
		w.options.Core.Bus.Publish(event.Header{}, event.Notice{
			Level: event.Error, Text: "conversations cannot be opened: " + err.Error(), Hint: "hermes doctor says more",
		})
		return
	}
	for _, b := range app.Backends().List("") { // the panes can ask for the rest only now
		app.Events().Publish(event.Header{}, event.BackendChanged{Name: b.Name, Kind: b.Kind, Image: b.Image, From: b.State, To: b.State, Cause: b.Cause})
	}
	p, m, err := app.Catalog().Resolve(context.Background(), "")
	if err != nil {
		app.Events().Publish(event.Header{}, event.Notice{Level: event.Warn, Text: "no model: " + err.Error(), Hint: "/connect chooses a server, /model another model"})
		return
	}
	app.Events().Publish(event.Header{}, event.ModelChanged{Provider: p.Name(), Model: m.ID, Window: m.Window})
}

func (w *workbench) uiOptions(first string) ui.Options {
	c, o := w.options.Core.Config, w.options.UI
	o.Bus = w.options.Core.Bus
	o.Session = first
	o.Conversation = w.newConversation
	o.Side = w.sidePanes(o.Now)
	o.Actions = w.ownActions()
	o.More = func() []ui.Action { return slices.Concat(w.skillCommands(), w.promptCommands(), w.pluginCommands()) }
	o.MoreComes = w.skillsAreComing
	o.Keys, o.CommandLine = c.Keys, w.options.CommandLine
	o.Slash = w.slash
	o.Theme, o.ThemeDir, o.SetTheme = c.Display.Theme, c.Paths().ThemesDir, w.setTheme
	o.NoMouse = c.Display.Mouse == "off"
	o.Notify = c.Display.Notify
	o.Defaults, o.Look, o.NoModel = w.sessionDefaults, w.lookAround, provider.Offline
	if w.options.Session == "" { // a new one: its folder is known before the program is open
		dir := w.options.Core.SessionFolder(c)
		o.Around = ui.Surroundings{Folder: shortFolder(dir), Branch: branchOf(dir)}
	}
	o.Standing = talker{w.boot}.sessionStanding
	o.Hurry = talker{w.boot}.hurrySession
	if o.State == nil {
		o.State = layoutFile(c.Paths())
	}
	if c.Display.ASCII {
		o.ASCII = &c.Display.ASCII
	}
	return o
}

// sidePanes makes the panes beside the conversation. A clock is given by tests only.
func (w *workbench) sidePanes(now func() time.Time) []ui.Pane {
	s, o, b := sessions.New(browser{w.boot}), output.New(talker{w.boot}), backends.New(places{w.boot})
	if now != nil {
		s.SetClock(now)
		o.SetClock(now)
		b.SetClock(now)
	}
	return []ui.Pane{s, o, b}
}

// PaneActions lists what each pane offers, for docs/keys.md and for checking configured keys.
func PaneActions() []ui.Action {
	none := conversation.Deps{
		Files: fileLister{}, Picture: showPicture,
		Retry: func(context.Context, string) error { return nil },
		Undo:  func(context.Context, string) (compose.Prompt, error) { return compose.Prompt{}, nil },
		Mark:  func(string, int64, bool) tea.Cmd { return nil },
	}
	panes := []ui.Pane{conversation.New(none, ""), sessions.New(nil), output.New(nil), backends.New(nil), shell.New(shell.Deps{}, "", ""), memory.New(nil)}
	var out []ui.Action
	for _, p := range panes {
		for _, a := range p.Actions() {
			if a.Group == "" {
				a.Group = string(p.ID())
			}
			a.Run, a.Why, a.Complete = nil, nil, nil
			out = append(out, a)
		}
	}
	return out
}

// newConversation makes the pane of a session and opens the stored one behind it.
func (w *workbench) newConversation(uid string) ui.Pane {
	if uid == "" {
		uid = session.NewUID()
	}
	t, c := talker{w.boot}, w.options.Core.Config
	return conversation.New(conversation.Deps{
		Transcript: t, Agent: t, Files: fileLister{w.listResources, w.boot.appIfReady}, History: &promptHistory{path: c.Paths().HistoryFile}, Commands: w.slash,
		NewSession: func(context.Context) (string, error) { return session.NewUID(), nil },
		Fork:       w.forkAt, Retry: w.retryTurn, Undo: w.undoExchange, Mark: w.markMessage,
		Busy: event.InputMode(c.Display.BusyInputMode), ContentPath: t.contentPath,
		Cwd: w.folderOf, Now: w.options.UI.Now, Key: w.slash.Key,
		Display: w.displaySettings, Picture: showPicture,
	}, uid)
}

// displaySettings is what the settings say now about the look of a conversation.
func (w *workbench) displaySettings() conversation.Display {
	d := w.options.Core.Config.Display
	if app, ok := w.boot.appIfReady(); ok {
		d = app.Config().Display
	}
	return conversation.Display{
		Reasoning: d.ShowReasoning, Timestamps: d.Timestamps, PasteLines: d.PasteCollapseThreshold, PasteRunes: d.PasteCollapseChar,
	}
}

func (w *workbench) forkAt(ctx context.Context, uid string, message int64) (string, error) {
	app, err := w.boot.waitForApp(ctx)
	if err != nil {
		return "", err
	}
	info, err := app.History().Fork(ctx, uid, message)
	return info.UID, err
}

func (w *workbench) retryTurn(ctx context.Context, uid string) error {
	return w.boot.doInApp(ctx, func(app *core.App) error { return app.Agent.Retry(ctx, uid) })
}

// undoExchange takes the last exchange back. What was pasted comes back with the prompt; what the
// text names (@file) is read again when it is sent again.
func (w *workbench) undoExchange(ctx context.Context, uid string) (compose.Prompt, error) {
	app, err := w.boot.waitForApp(ctx)
	if err != nil {
		return compose.Prompt{}, err
	}
	m, err := app.Agent.Undo(ctx, uid, 1)
	p := compose.Prompt{Text: m.Text}
	for _, part := range m.Parts {
		named := strings.Contains(m.Text, "@"+part.Name)
		file := part.Kind == chat.PartFile && part.Path != ""
		if part.Kind == chat.PartPaste || (part.Kind == chat.PartImage || file) && !named {
			p.Parts = append(p.Parts, part)
		}
	}
	return p, err
}

// folderOf is where a session works; a session that is not stored yet works where new ones do.
func (w *workbench) folderOf(uid string) string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return w.options.Core.SessionFolder(w.options.Core.Config)
	}
	ctx, cancel := context.WithTimeout(context.Background(), quick)
	defer cancel()
	info, err := app.Sessions.Get(ctx, uid)
	if err != nil || info.Cwd == "" {
		return app.Cwd()
	}
	return info.Cwd
}

func (w *workbench) setTheme(name string) error {
	return config.Set(w.options.Core.Config.Paths(), "display.theme", name)
}
