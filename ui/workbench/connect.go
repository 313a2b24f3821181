package workbench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/connect"
	"hermes/core/event"
	"hermes/core/provider"
	"hermes/ui"
	"hermes/ui/text"
)

// connecting is the way from no model to one: a server, its key, a model of its list, a try, and
// how it looks. Nothing is written before the model has answered, or the person said that it need
// not.
type connecting struct {
	w      *workbench
	uid    string
	choice connect.Choice
	models []provider.Model
}

// connectModel asks for a model server, or begins with the one that is named.
func (w *workbench) connectModel(arg string) tea.Cmd {
	return w.runInApp(func(_ context.Context, app *core.App, uid string) (tea.Msg, error) {
		c := &connecting{w: w, uid: uid}
		all := connect.Servers(app.Config())
		for _, s := range all {
			if arg == s.Name {
				return c.chooseServer(s)(), nil
			}
		}
		if connect.IsAddress(arg) {
			return c.goOnAt(all, arg)(), nil
		}
		if arg != "" {
			return nil, fmt.Errorf("no model server is called %q; /connect lists them", arg)
		}
		return ui.ShowOverlay{Overlay: c.listServers(all, app.Config().Model.Provider)}, nil
	})
}

func (w *workbench) serverNames(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		for _, s := range connect.Servers(app.Config()) {
			out = append(out, s.Name)
		}
		return out
	})
}

func (c *connecting) listServers(all []connect.Server, now string) ui.Overlay {
	var items []ui.Item
	for _, s := range all {
		it := ui.Item{ID: s.Name, Title: s.Name, Detail: s.Host(), Group: "with a key"}
		switch {
		case s.Name == connect.Custom:
			it.Title, it.Detail, it.Group = "another server", "any address that speaks like OpenAI or Anthropic", "your own"
			it.Also = "custom own other url http https localhost local"
		case s.HasKey:
			it.Group, it.Right = "there is a key", s.KeyEnv
		case s.Local:
			it.Group, it.Also = "on this machine, without a key", "local localhost"
		default:
			it.Right = s.KeyEnv
		}
		items = append(items, it)
	}
	return ui.NewPicker(ui.PickerOptions{
		Title: "Connect: which server?", Items: items, Selected: now, Placeholder: "name or address",
		Typed: func(what string) (ui.Item, bool) {
			address := connect.CompleteAddress(what)
			return ui.Item{ID: address, Title: address, Detail: "a server at this address"}, connect.IsAddress(address)
		},
		Choose: func(it ui.Item) tea.Cmd {
			for _, s := range all {
				if s.Name == it.ID {
					return c.chooseServer(s)
				}
			}
			return c.goOnAt(all, it.ID)
		},
	})
}

// goOnAt goes on with a server of the person's own at an address.
func (c *connecting) goOnAt(all []connect.Server, address string) tea.Cmd {
	for _, s := range all {
		if s.Name != connect.Custom {
			continue
		}
		c.choice = connect.Choice{Server: s}
		if err := c.choice.Move(address); err != nil {
			return c.askAddress(err.Error())
		}
		return c.askName()
	}
	return c.askAddress("")
}

// chooseServer goes on with what is not known of a server yet.
func (c *connecting) chooseServer(s connect.Server) tea.Cmd {
	c.choice = connect.Choice{Server: s}
	switch {
	case s.BaseURL == "":
		return c.askAddress("")
	case s.Local:
		return c.fetchModels()
	default:
		return c.askKey("")
	}
}

// showOverlay is a command that puts an overlay up.
func showOverlay(o ui.Overlay) tea.Cmd {
	return func() tea.Msg { return ui.ShowOverlay{Overlay: o} }
}

func (c *connecting) askAddress(problem string) tea.Cmd {
	return showOverlay(ui.NewPrompt(ui.PromptOptions{
		Title: "Its address", Placeholder: "https://host/v1", Problem: problem,
		Note: func() string { return "with the version part; http:// for a server of your own" },
		Done: func(line string) (tea.Cmd, string) {
			c.models = nil
			if err := c.choice.Move(line); err != nil {
				return nil, err.Error()
			}
			return c.askName(), ""
		},
	}))
}

// askName asks what a server of one's own is to be called in the settings.
func (c *connecting) askName() tea.Cmd {
	s := c.choice.Server
	app, _ := c.w.boot.appIfReady() // it is there: it made the list of servers
	if !s.Own || s.Name != connect.Custom && c.choice.Call(s.Name, app.Config()) == nil {
		return c.askKey("")
	}
	return showOverlay(ui.NewPrompt(ui.PromptOptions{
		Title: "A name for " + s.Host(), Text: connect.OwnName(s.BaseURL, app.Config()),
		Note: func() string { return "in the settings it is providers.NAME, its models are NAME/MODEL" },
		Done: func(line string) (tea.Cmd, string) {
			if err := c.choice.Call(strings.TrimSpace(line), app.Config()); err != nil {
				return nil, err.Error()
			}
			return c.askKey(""), ""
		},
	}))
}

// askKey asks for the key; what is typed is not shown.
func (c *connecting) askKey(problem string) tea.Cmd {
	s := c.choice.Server
	hint, kept := "paste it", "It is kept in .env, which only you can read, as "+s.KeyEnv+", and goes to "+s.Host()+" only."
	switch {
	case s.HasKey:
		hint = "enter keeps the one that is there"
	case s.Own:
		hint = "empty, if it wants none"
	}
	return showOverlay(ui.NewPrompt(ui.PromptOptions{
		Title: "Key for " + s.Name, Placeholder: hint, Secret: true, Problem: problem,
		Note: func() string { return kept },
		Done: func(line string) (tea.Cmd, string) {
			c.choice.Key = strings.TrimSpace(line)
			if c.choice.Key == "" && !s.HasKey && !s.Own {
				return nil, "it wants a key"
			}
			return c.fetchModels(), ""
		},
	}))
}

// fetchModels asks the server for its models.
func (c *connecting) fetchModels() tea.Cmd {
	return ui.Waiting("Connect", "asking "+c.choice.Server.Host()+" for its models "+ellipsis, func(ctx context.Context) tea.Msg {
		app, err := c.w.boot.waitForApp(ctx)
		if err == nil {
			c.models, err = app.ModelsAt(ctx, &c.choice)
		}
		switch {
		case err == nil && len(c.models) > 0:
			return ui.ShowOverlay{Overlay: c.pickModel()}
		case connect.Refused(err):
			return c.askKey(errorWords(err))()
		case err == nil:
			err = errors.New("the server lists no models")
		}
		return ui.ShowOverlay{Overlay: c.showFailure("It cannot be asked", err)}
	})
}

const ellipsis = "…"

func (c *connecting) pickModel() ui.Overlay {
	var items []ui.Item
	for _, m := range c.models {
		items = append(items, ui.Item{ID: m.ID, Title: m.ID, Detail: modelDetail(m), Right: m.Figures()})
	}
	return ui.NewPicker(ui.PickerOptions{
		Title: "Which model of " + c.choice.Server.Name + "?", Items: items, Placeholder: "name",
		Choose: func(it ui.Item) tea.Cmd { return c.tryModel(it.ID) },
	})
}

// askModelName asks for the name of a model that is not in a list.
func (c *connecting) askModelName() tea.Cmd {
	return showOverlay(ui.NewPrompt(ui.PromptOptions{
		Title: "Model of " + c.choice.Server.Name, Placeholder: "its name, as the server calls it", Text: c.choice.Model,
		Done: func(line string) (tea.Cmd, string) {
			if line = strings.TrimSpace(line); line == "" {
				return nil, "write its name"
			}
			return c.tryModel(line), ""
		},
	}))
}

// tryModel has the model begin an answer: some servers list their models to anybody.
func (c *connecting) tryModel(model string) tea.Cmd {
	c.choice.Model = model
	return ui.Waiting("Connect", "trying "+model+" with one word "+ellipsis, func(ctx context.Context) tea.Msg {
		app, err := c.w.boot.waitForApp(ctx)
		if err == nil {
			err = app.TryModel(ctx, &c.choice)
		}
		switch {
		case err == nil:
			return c.saveConnection(ctx, app)
		case connect.Refused(err):
			return c.askKey(errorWords(err))()
		}
		return ui.ShowOverlay{Overlay: c.showFailure(model+" did not answer", err)}
	})
}

// saveConnection writes it down, and lets the person choose how it looks.
func (c *connecting) saveConnection(ctx context.Context, app *core.App) tea.Msg {
	if err := app.Connect(ctx, c.uid, c.choice); err != nil {
		return ui.Toast(event.Error, "%v", err)
	}
	return tea.BatchMsg{
		func() tea.Msg {
			return ui.Toast(event.Info, "connected: %s of %s answers", c.choice.Model, c.choice.Server.Name)
		},
		func() tea.Msg { return ui.RunAction{ID: "theme"} },
	}
}

// showFailure says what went wrong and what can be done.
func (c *connecting) showFailure(what string, err error) ui.Overlay {
	items := []ui.Item{{ID: "again", Title: "Try it again"}}
	add := func(on bool, id, title string) {
		if on {
			items = append(items, ui.Item{ID: id, Title: title})
		}
	}
	s := c.choice.Server
	add(!s.Local, "key", "Another key")
	add(s.Own || s.Local, "address", "Another address")
	add(len(c.models) > 0, "model", "Another model of its list")
	add(true, "named", "Write a model's name")
	add(c.choice.Model != "", "keep", "Keep "+c.choice.Model+" all the same")
	add(true, "server", "Another server")
	return ui.NewPicker(ui.PickerOptions{
		Title: what, Note: errorWords(err), Items: items,
		Choose: func(it ui.Item) tea.Cmd {
			switch it.ID {
			case "key":
				return c.askKey("")
			case "address":
				return c.askAddress("")
			case "model":
				return showOverlay(c.pickModel())
			case "named":
				return c.askModelName()
			case "keep":
				return c.w.runInApp(func(ctx context.Context, app *core.App, _ string) (tea.Msg, error) {
					return c.saveConnection(ctx, app), nil
				})
			case "server":
				return c.w.connectModel("")
			}
			if c.choice.Model != "" {
				return c.tryModel(c.choice.Model)
			}
			return c.fetchModels()
		},
	})
}

// errorWords is an error for people: the message, and what to do.
func errorWords(err error) string { return text.Sanitize(connect.FailureWords(err)) }
