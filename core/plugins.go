package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"hermes/core/client"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/hook"
	"hermes/core/mcp"
	"hermes/core/plugin"
)

// pluginTries is how often a plugin may fail in a row before it is stopped.
const pluginTries = 4

// pluginsPart is the plugins that are enabled. Their programs are servers of tools.
type pluginsPart struct {
	quiet
	a *App

	mu      sync.Mutex
	enabled map[string]plugin.Plugin
	holders map[plugin.Role]plugin.Plugin
}

func (p *pluginsPart) Start(context.Context) error {
	list, err := p.readPlugins()
	if err != nil {
		p.a.publishNotice(event.Warn, err.Error(), "")
	}
	for _, one := range list {
		hint := "`hermes plugins enable " + one.Name + "` shows it and asks"
		switch one.State {
		case plugin.Changed:
			p.a.publishNotice(event.Warn, "the plugin "+one.Name+" has changed since it was enabled: it is not started", hint)
		case plugin.New:
			p.a.publishNotice(event.Info, "the plugin "+one.Name+" is there and not enabled", hint)
		default: // said by `hermes plugins list`
		}
	}
	return nil
}

// Changed takes edited settings; the servers follow.
func (p *pluginsPart) Changed(config.Change) {
	if _, err := p.readPlugins(); err != nil {
		p.a.log.Warn("plugins could not be read", "err", err)
	}
}

func (a *App) pluginLibrary() *plugin.Library { return plugin.NewLibrary(a.Config().Paths().Home) }

// readPlugins looks at the folders and takes the hooks of what is enabled.
func (p *pluginsPart) readPlugins() ([]plugin.Plugin, error) {
	list, err := p.a.pluginLibrary().List(p.a.Project())
	enabled := map[string]plugin.Plugin{}
	for _, one := range list {
		if one.State == plugin.Enabled {
			enabled[one.Name] = one
		}
	}
	holders, herr := plugin.Holders(list)
	err = errors.Join(err, herr)
	p.mu.Lock()
	p.enabled, p.holders = enabled, holders
	p.mu.Unlock()
	for _, h := range p.a.HookSet.List() { // those that are there get theirs below
		if name, of := strings.CutPrefix(h.Owner, plugin.Owner); of && !slices.ContainsFunc(list, func(o plugin.Plugin) bool { return o.Name == name }) {
			err = errors.Join(err, p.a.HookSet.Replace(h.Owner, nil))
		}
	}
	for _, one := range list {
		var hooks []hook.Hook
		switch one.State {
		case plugin.Enabled:
			hooks = one.Hooks(p.hookRunner(one.Name))
		case plugin.Changed: // a guard is not got rid of by writing to its files
			hooks = slices.DeleteFunc(one.Hooks(refuseChanged(one.Name)), func(h hook.Hook) bool { return !h.Event.Refuses() })
		case plugin.New, plugin.Disabled, plugin.Broken:
		}
		err = errors.Join(err, p.a.HookSet.Replace(plugin.Owner+one.Name, hooks))
	}
	return list, err
}

// refuseChanged stands for hooks that may not run: what they were to judge is refused.
func refuseChanged(name string) func(string) hook.Runner {
	return func(string) hook.Runner {
		return func(context.Context, hook.Hook, hook.Input, []byte) (hook.Reply, error) {
			return hook.Reply{}, fmt.Errorf("the plugin %s has changed since it was enabled: `hermes plugins enable %s` or `disable %s`", name, name, name)
		}
	}
}

// hookRunner has tools of a plugin's program take part as hooks.
func (p *pluginsPart) hookRunner(name string) func(tool string) hook.Runner {
	return func(tool string) hook.Runner {
		return func(ctx context.Context, _ hook.Hook, _ hook.Input, payload []byte) (hook.Reply, error) {
			text, err := p.a.MCP.Ask(ctx, name, tool, payload)
			if err != nil {
				return hook.Reply{}, fmt.Errorf("the plugin %s: %w (`hermes plugins logs %s`)", name, err, name)
			}
			return hook.Reply{Out: []byte(text)}, nil
		}
	}
}

func (p *pluginsPart) enabledPlugin(name string) (plugin.Plugin, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.enabled[name]
	return one, ok
}

// bringsNoTools reports whether a name is of a plugin of which the agent is told nothing.
func (p *pluginsPart) bringsNoTools(name string) bool {
	one, ok := p.enabledPlugin(name)
	return ok && !one.Manifest.Tools
}

// roleHolder is the plugin that has a role.
func (p *pluginsPart) roleHolder(r plugin.Role) (plugin.Plugin, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.holders[r]
	return one, ok
}

// joinServers adds the programs of plugins to the servers. A name that a server has is not a
// plugin's.
func (p *pluginsPart) joinServers(all map[string]mcp.Settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, one := range p.enabled {
		set := p.serverOf(one)
		if _, taken := all[name]; taken {
			p.a.log.Warn("a plugin is not started: a server has its name", "plugin", name)
			continue
		}
		all[name] = set
	}
}

// serverOf is a plugin's program as a server of tools.
func (p *pluginsPart) serverOf(one plugin.Plugin) mcp.Settings {
	m, c := one.Manifest, p.a.Config()
	s := mcp.Settings{Name: one.Name, From: "the plugin " + one.Folder, Plugin: true, Tries: pluginTries}
	s.Command, s.Args, s.Cwd, s.Elicitation = m.Command[0], m.Command[1:], one.Folder, "no"
	s.Tools.Exclude = m.Hidden()
	data := p.a.pluginLibrary().Data(one.Name)
	values, err := m.Values(c.Plugins[one.Name].Settings)
	if err == nil {
		err = os.MkdirAll(data, 0o700)
	}
	if err != nil {
		s.Problem = fmt.Sprintf("plugins.%s.settings: %v", one.Name, err)
	}
	s.Env = map[string]string{
		"HERMES_PLUGIN_DATA": data, "HERMES_PLUGIN_SETTINGS": string(values),
		"HERMES_PLUGIN_HASH":      one.Hash, // another content is another program
		"PYTHONDONTWRITEBYTECODE": "1",      // the folder stays as it was enabled
	}
	for _, name := range m.Env {
		value, set := c.Secret(name)
		if !set {
			s.Problem = cmp.Or(s.Problem, fmt.Sprintf("%s is not set: write it into .env (`hermes config set %s VALUE`) or export it", name, name))
		}
		s.Env[name] = value
	}
	return s
}

// whyNotAllowed says why a program must not be started: a plugin may have changed since it was
// enabled.
func (p *pluginsPart) whyNotAllowed(s mcp.Settings) error {
	if !s.Plugin {
		return nil
	}
	one, ok := p.enabledPlugin(s.Name)
	if !ok {
		return errors.New("it is not enabled")
	}
	return p.a.pluginLibrary().Unchanged(one)
}

// tellStopped names a plugin that was stopped.
func (p *pluginsPart) tellStopped(c mcp.StateChanged) {
	if _, is := p.enabledPlugin(c.Name); is && c.State == mcp.StateFailed {
		p.a.Bus.Publish(event.Header{}, event.Notice{
			Level: event.Warn, Text: "the plugin " + c.Name + " does not run: " + c.Error,
			Hint: "/mcp shows its log and starts it again; `hermes plugins disable " + c.Name + "` does without it",
		})
	}
}

// ownerNames are the names by which toolsets choose the tools of plugins.
func (p *pluginsPart) ownerNames() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]string{}
	for name := range p.enabled {
		out[mcp.OwnerPrefix+name] = mcp.Toolset(name)
	}
	return out
}

// IsPlugin reports whether an enabled plugin has this name.
func (a *App) IsPlugin(name string) bool {
	_, ok := a.plugins.enabledPlugin(name)
	return ok
}

// PluginCommand is a command that a plugin brings for the person.
type PluginCommand struct {
	Plugin string
	plugin.CommandDecl
}

// PluginCommands lists them by plugin.
func (a *App) PluginCommands() []PluginCommand {
	a.plugins.mu.Lock()
	defer a.plugins.mu.Unlock()
	var out []PluginCommand
	for _, name := range slices.Sorted(maps.Keys(a.plugins.enabled)) {
		for _, c := range a.plugins.enabled[name].Manifest.Commands {
			out = append(out, PluginCommand{name, c})
		}
	}
	return out
}

// RunPluginCommand calls a command of a plugin for the person; no model is told.
func (a *App) RunPluginCommand(ctx context.Context, c PluginCommand, session, arg string) (string, error) {
	args, err := json.Marshal(map[string]string{"argument": arg, "session_id": session, "cwd": a.Cwd()})
	if err != nil {
		return "", err
	}
	return a.MCP.Ask(ctx, c.Plugin, c.Tool, args)
}

// Plugins are folders with programs that bring tools, hooks and commands.
func (a *App) Plugins() client.Plugins { return plugins{a} }

type plugins struct{ a *App }

// List is every plugin, enabled or not.
func (p plugins) List() ([]plugin.Plugin, error) { return p.a.pluginLibrary().List(p.a.Project()) }

// Answer enables a plugin as it was shown, or disables it.
func (p plugins) Answer(shown plugin.Plugin, yes bool) error {
	if err := p.a.pluginLibrary().Answer(shown, yes); err != nil {
		return err
	}
	_, err := p.a.plugins.readPlugins()
	b, berr := p.a.ProjectServers()
	p.a.applyServers(b)
	if yes {
		p.a.MCP.Want(shown.Name)
	}
	return errors.Join(err, berr)
}
