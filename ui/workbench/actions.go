package workbench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/agent"
	"hermes/core/event"
	"hermes/core/learn"
	"hermes/core/session"
	"hermes/ui"
)

// slow bounds what an action may take before it gives up with an error.
const slow = 30 * time.Second

// Actions lists what the program offers everywhere, for docs/keys.md.
func Actions() []ui.Action {
	w := &workbench{}
	list := w.ownActions()
	for i := range list {
		list[i].Run, list[i].Why, list[i].Complete = nil, nil, nil
	}
	return list
}

// ownActions are those that need the program behind the screen.
func (w *workbench) ownActions() []ui.Action {
	return append([]ui.Action{
		{ID: "session.resume", Slash: "resume", Also: []string{"sessions", "continue", "history"}, First: true, Arg: "[session]", Title: "Resume a session", Help: "By title, id or \"last\"; without a name it opens the browser.", Group: "session", Run: w.resumeSession, Complete: w.sessionTitles},
		{ID: "session.title", Slash: "title", Also: []string{"rename"}, Arg: "name", Title: "Name this session", Group: "session", Run: w.runChange("named", w.renameSession)},
		{ID: "session.fork", Slash: "fork", Also: []string{"branch"}, Title: "Fork this session", Help: "A copy that goes its own way from here.", Group: "session", Run: w.forkSession},
		{ID: "session.export", Slash: "export", Also: []string{"save"}, Arg: "[markdown|json|sharegpt]", Title: "Export this session to a file", Group: "session", Run: w.exportSession, Complete: completeChoices("markdown", "json", "sharegpt")},
		{ID: "session.compress", Slash: "compress", Also: []string{"compact", "summarize"}, First: true, Arg: "[what to keep in mind]", Title: "Compress old messages into a summary", Group: "session", Run: w.compressSession},
		{ID: "session.rollback", Slash: "rollback", Also: []string{"diff", "rewind", "restore", "snapshot"}, First: true, Arg: "[turn] [file]", Title: "See what turns changed in your files, and take it back", Help: "Without a turn it lists them; hermes rollback does the same outside.", Group: "session", Run: w.showRollback},
		{ID: "model", Slash: "model", Also: []string{"models", "provider"}, First: true, Arg: "[provider/model]", Title: "Choose the model of this session", Group: "session", Run: w.switchModel, Complete: w.modelNames},
		{ID: "connect", Slash: "connect", Also: []string{"setup", "login", "auth"}, First: true, Arg: "[server or address]", Title: "Connect a model: server, key, model", Help: "The key is tried at the server before anything is written; the list of models is the server's own.", Group: "program", Run: w.connectModel, Complete: w.serverNames},
		{ID: "backend", Slash: "backend", Also: []string{"pool"}, Arg: "[name]", Title: "Choose where commands of this session run", Group: "session", Run: w.switchBackend, Complete: w.backendNames},
		{ID: "shell", Slash: "shell", Arg: "[back end]", Title: "Open a shell in a back end", Help: "For you, not for the agent; without a name where this session's commands run.", Group: "session", Run: w.openShell, Complete: w.backendNames},
		{ID: "approvals", Slash: "approvals", Also: []string{"permissions"}, Title: "What is allowed without asking", Help: "Enter on a line asks again from then on.", Group: "session", Run: w.listApprovals},
		{ID: "tools", Slash: "tools", Arg: "[reload]", Title: "Tools by toolset: switch them", Help: "Enter switches a set, here and for new sessions. A session keeps the tools that it began with; reload takes what a server added or changed.", Group: "session", Run: w.showTools, Complete: completeChoices("reload")},
		{ID: "level", Slash: "level", Also: []string{"mode"}, First: true, Arg: "[" + strings.Join(levelNames(), "|") + "]", Title: "Choose what runs unasked in this session", Help: "plan: nothing is changed, nothing is asked. read: what changes something is asked. all: nothing is asked. It is kept with the session; settings takes it back.", Group: "session", Run: w.chooseLevel, Complete: completeChoices(levelNames()...)},
		{ID: "level.plan", Slash: "plan", Arg: "[prompt]", Title: "Plan only in this session", Help: "As /level plan. A prompt behind it stands in the line then.", Group: "session", Run: w.planOnly},
		{ID: "level.all", Slash: "yolo", Title: "Ask for nothing in this session", Help: "As /level all, and asked about first.", Group: "session", Run: func(string) tea.Cmd {
			return func() tea.Msg { return ui.ShowOverlay{Overlay: w.allPicker()} }
		}},
		{ID: "level.next", Keys: []string{"alt+a"}, Title: "Change what is asked", Card: true, Help: "read, standard, all, plan; all is asked about first.", Group: "session", Run: w.nextLevel},
		{ID: "effort", Slash: "reasoning", Also: []string{"effort", "think"}, Arg: "[" + strings.Join(effortNames(), "|") + "]", Title: "Choose how long the model thinks", Help: "From the next turn on. It is kept with the session; settings takes it back.", Group: "session", Run: w.chooseEffort, Complete: completeChoices(effortNames()...)},
		{ID: "effort.next", Keys: []string{"alt+t"}, Title: "Change how long it thinks", Card: true, Help: "How long the model thinks: low, medium, high, then as the settings say.", Group: "session", Run: w.nextEffort},
		{ID: "away", Slash: "away", Arg: "[on|off]", Title: "Say that nobody answers in this session", Help: "What would be asked is refused at once, until off or the end of the program.", Group: "session", Run: w.setAway, Complete: completeChoices("on", "off")},
		{ID: "toolsets", Slash: "toolsets", Arg: "[name, ...|settings]", Title: "Choose the sets of tools of this session", Help: "From its next turn on. They are kept with the session; settings takes it back.", Group: "session", Run: w.chooseToolsets},
		{ID: "skills", Slash: "skills", Keys: []string{"alt+k"}, Arg: "[name]", Title: "Skills: known ways to do things", Help: "What there is, where it comes from, what is wrong; each is a slash command of its own.", Group: "program", Run: w.skillsOverlay, Complete: w.skillNames},
		{ID: "learn", Slash: "learn", Title: "What was learned and waits for your word", Help: "Changes of skills that turns gave reason for, line by line; hermes learn does the same outside.", Group: "program", Run: w.learnOverlay},
		{ID: "trace", Slash: "trace", Arg: "[turn]", Title: "What the last turn was given and did", Help: "Memory, skills with their versions, tools, outcome, what was learned of it; left and right show the other turns. hermes trace tells of all.", Group: "session", Run: w.showTrace},
		{ID: "learn.good", Slash: "good", Arg: "[why]", Title: "Say that the last turn went well", Help: "It decides what the turn came to, whatever exit codes say, and counts for its skills. + on a turn while browsing does the same.", Group: "session", Run: w.markLast(learn.Good)},
		{ID: "learn.bad", Slash: "bad", Arg: "[why]", Title: "Say that the last turn went badly", Help: "As /good; - while browsing does the same. What a skill should have said goes behind it.", Group: "session", Run: w.markLast(learn.Bad)},
		{ID: "mcp", Slash: "mcp", Arg: "[server]", Title: "Servers of tools: how they are, their tools and logs", Help: "Restart one, look at what changed of it, trust those of a project; hermes mcp does the same outside.", Group: "program", Run: w.serversOverlay, Complete: w.mcpNames},
		{ID: "plugins", Slash: "plugins", Arg: "[enable|disable name]", Title: "Plugins: programs that bring tools, hooks and commands", Help: "enable shows one and asks; its log is in /mcp; hermes plugins does the same outside.", Group: "program", Run: w.showPlugins, Complete: w.pluginNames},
		{ID: "hooks", Slash: "hooks", Arg: "[trust|refuse]", Title: "Hooks: programs that take part in what the agent does", Help: "What each takes part in and what holds when it fails; trust asks about those of the project; hermes hooks tests them.", Group: "program", Run: w.showHooks, Complete: completeChoices("trust", "refuse")},
		{ID: "status", Slash: "status", Title: "How this session stands", Help: "Model, context, cost, folder, level, back end, memory, skills.", Group: "session", Run: w.showStatus},
		{ID: "usage", Slash: "usage", Also: []string{"cost", "context", "insights", "stats"}, Title: "What the prompt is made of, and what calls cost", Help: "By turn, session, day and model; hermes usage prints the same.", Group: "session", Run: w.showUsage},
		{ID: "profile", Slash: "profile", Arg: "[name]", Title: "Choose the profile of the next start", Help: "Settings, secrets, skills, memory and conversations of its own; hermes profile makes and removes them.", Group: "program", Run: w.chooseProfile, Complete: w.profileNames},
		{ID: "config", Slash: "config", Also: []string{"settings"}, Arg: "[back end]", Title: "Edit the settings", Help: "Opens config.yaml in $EDITOR, at the back end when one is named; what can change while running does.", Group: "program", Run: w.editConfig, Complete: w.backendNames},
	}, w.memoryActions()...)
}

// runInApp runs f in a command, with the App and the focused session. What f returns goes to the
// frame.
func (w *workbench) runInApp(f func(ctx context.Context, app *core.App, uid string) (tea.Msg, error)) tea.Cmd {
	uid := w.program.Session()
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), slow)
		defer cancel()
		app, err := w.boot.waitForApp(ctx)
		if err != nil {
			return ui.Toast(event.Error, "%v", err)
		}
		msg, err := f(ctx, app, uid)
		if err != nil {
			return ui.Toast(event.Error, "%v", err)
		}
		return msg
	}
}

// runChange runs f in a command for what needs no more answer than that it is done.
func (w *workbench) runChange(done string, f func(ctx context.Context, app *core.App, uid, arg string) error) func(string) tea.Cmd {
	return func(arg string) tea.Cmd {
		return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
			return ui.Toast(event.Info, "%s", done), f(ctx, app, uid, arg)
		})
	}
}

func (w *workbench) resumeSession(arg string) tea.Cmd {
	if arg == "" {
		return func() tea.Msg { return ui.RunAction{ID: "sessions.search"} }
	}
	return w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
		info, err := app.History().Resolve(ctx, arg)
		return ui.OpenSession{UID: info.UID}, err
	})
}

func (w *workbench) renameSession(ctx context.Context, app *core.App, uid, arg string) error {
	if arg == "" {
		return fmt.Errorf("write the name behind it: /title fix the flaky test")
	}
	if err := app.Ensure(ctx, uid); err != nil {
		return err
	}
	return app.History().Rename(ctx, uid, arg)
}

func (w *workbench) forkSession(string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		info, err := app.History().Fork(ctx, uid, 0)
		return ui.OpenSession{UID: info.UID, Where: ui.Right}, err
	})
}

func (w *workbench) exportSession(arg string) tea.Cmd {
	format, ok := map[string]session.Format{"": session.Markdown, "markdown": session.Markdown, "md": session.Markdown, "json": session.JSON, "sharegpt": session.ShareGPT}[arg]
	if !ok {
		return func() tea.Msg {
			return ui.Toast(event.Error, "no export format %q: markdown, json or sharegpt", arg)
		}
	}
	return w.runInApp(func(ctx context.Context, _ *core.App, uid string) (tea.Msg, error) {
		path, err := exportToFile(ctx, w.boot, uid, format)
		return ui.ShowUndo{Text: "written to " + path, Undo: func() tea.Msg {
			if err := w.boot.written.removeWritten(path); err != nil {
				return ui.Toast(event.Error, "%v", err)
			}
			return nil
		}}, err
	})
}

func (w *workbench) compressSession(focus string) tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		err := app.Agent.Compress(ctx, uid, focus)
		if errors.Is(err, agent.ErrNothingToCompress) {
			return ui.Toast(event.Info, "%s", err), nil
		}
		return ui.Toast(event.Info, "compressed"), err
	})
}

// reloadTools gives the session the tools as they are now.
func (w *workbench) reloadTools() tea.Cmd {
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		changed, err := app.TakeTools(ctx, uid)
		if err != nil {
			return nil, err
		}
		return ui.Toast(event.Info, "The tools of this session: %s", changed.Words()), nil
	})
}

// switchBackend switches, or goes to the pane that lists them.
func (w *workbench) switchBackend(arg string) tea.Cmd {
	if arg == "" {
		return func() tea.Msg { return ui.RunAction{ID: "focus.backends"} }
	}
	return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
		return ui.Toast(event.Info, "commands of this session run in %s", arg), app.SelectBackend(ctx, uid, arg)
	})
}

func (w *workbench) backendNames(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		for _, b := range app.Backends().List("") {
			out = append(out, b.Name)
		}
		return out
	})
}

// completeChoices completes one of a few words.
func completeChoices(words ...string) func(context.Context) []string {
	return func(context.Context) []string { return words }
}
