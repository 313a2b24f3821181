package workbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core"
	"hermes/core/event"
	"hermes/core/plugin"
	"hermes/ui"
)

// showPlugins shows the plugins on a card, or enables or disables one.
func (w *workbench) showPlugins(arg string) tea.Cmd {
	word, name, _ := strings.Cut(strings.TrimSpace(arg), " ")
	name = strings.TrimSpace(name)
	return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
		list, err := app.Plugins().List()
		if err != nil {
			return nil, err
		}
		if word == "" {
			return ui.ShowOverlay{Overlay: ui.NewCard("Plugins", pluginFacts(list))}, nil
		}
		i := slices.IndexFunc(list, func(p plugin.Plugin) bool { return p.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("there is no plugin %q: /plugins lists them", name)
		case word == "disable":
			return ui.Toast(event.Info, "%s is disabled", name), app.Plugins().Answer(list[i], false)
		case word != "enable":
			return nil, errors.New("write /plugins enable NAME or /plugins disable NAME")
		case list[i].State == plugin.Broken:
			return nil, errors.New(list[i].Problem)
		}
		return ui.ShowOverlay{Overlay: ui.NewConfirm("Let the plugin "+name+" run with your rights?", pluginWords(list[i]), func() tea.Cmd {
			return w.runInApp(func(_ context.Context, app *core.App, _ string) (tea.Msg, error) {
				return ui.Toast(event.Info, "%s is enabled", name), app.Plugins().Answer(list[i], true)
			})
		})}, nil
	})
}

func pluginFacts(list []plugin.Plugin) []ui.Fact {
	var facts []ui.Fact
	for _, p := range list {
		facts = append(facts, ui.Fact{Name: p.Name, Text: pluginWords(p), Wrong: p.State == plugin.Broken || p.State == plugin.Changed})
	}
	if len(facts) == 0 {
		facts = append(facts, ui.Fact{Name: "none", Text: "`hermes plugins new NAME` begins one; docs/plugins.md"})
	}
	return facts
}

// pluginWords is what a person decides by, a line for each fact.
func pluginWords(p plugin.Plugin) string {
	if p.Problem != "" {
		return decidingLine(string(p.State) + ": " + p.Problem)
	}
	out := []string{decidingLine(string(p.State) + ": " + p.Manifest.Description), decidingLine("folder: " + p.Folder)}
	for _, line := range p.Asks() {
		out = append(out, decidingLine(line))
	}
	return strings.Join(out, "\n")
}

// pluginNames completes the argument of /plugins.
func (w *workbench) pluginNames(ctx context.Context) []string {
	return w.namesInApp(ctx, func(app *core.App) (out []string) {
		list, _ := app.Plugins().List() // the command says why they cannot be listed
		for _, p := range list {
			word := "enable "
			if p.State == plugin.Enabled {
				word = "disable "
			}
			out = append(out, word+p.Name)
		}
		return out
	})
}

// pluginCommands are what plugins bring for the person. One that is called as something of ours has
// the plugin's name before it.
func (w *workbench) pluginCommands() []ui.Action {
	app, ok := w.boot.appIfReady()
	if !ok {
		return nil
	}
	var out []ui.Action
	for _, c := range app.PluginCommands() {
		slash := c.Name
		if slices.ContainsFunc(w.ownActions(), func(a ui.Action) bool { return a.Slash == slash || slices.Contains(a.Also, slash) }) {
			slash = c.Plugin + "-" + c.Name
		}
		a := ui.Action{
			ID: "plugin." + c.Plugin + "." + c.Name, Slash: slash, Title: "Of the plugin " + c.Plugin + ": " + c.About, Group: "plugins",
			Run: func(arg string) tea.Cmd {
				return w.runInApp(func(ctx context.Context, app *core.App, uid string) (tea.Msg, error) {
					text, err := app.RunPluginCommand(ctx, c, uid, arg)
					if err != nil {
						return nil, err
					}
					return ui.ShowOverlay{Overlay: ui.NewCard(c.Plugin, []ui.Fact{{Name: "/" + slash, Text: text}})}, nil
				})
			},
		}
		if c.Arg != "" {
			a.Arg = "[" + c.Arg + "]"
		}
		out = append(out, a)
	}
	return out
}
