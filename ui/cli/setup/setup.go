// Package setup is the command `hermes setup`: the questions of a first start.
package setup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/huh"
	"github.com/spf13/cobra"

	"hermes/core/config"
	"hermes/core/connect"
	"hermes/core/provider"
	"hermes/ui/cli/base"
)

// choice is a provider that setup offers. keyEnv is empty for servers that want no key.
type choice struct {
	name, title, baseURL, keyEnv string

	closed string // why it cannot be used
}

// choices are the servers of the catalogue, one of one's own, and none.
var choices = sync.OnceValue(func() (out []choice) {
	for _, p := range provider.Places() {
		where := p.KeyEnv
		if p.Local {
			where = "on this machine"
		}
		out = append(out, choice{name: p.Name, title: p.Name + "  (" + where + ")", baseURL: p.BaseURL, keyEnv: p.KeyEnv})
	}
	return append(out, choice{name: connect.Custom, title: "another server", keyEnv: connect.KeyName(connect.Custom)},
		choice{name: provider.Offline, title: "none: try the workbench without a model"})
})

// answers are what setup asks for.
type answers struct {
	provider, baseURL, key, model, theme string
}

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes setup`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	return &cobra.Command{
		Use: "setup", Short: "Choose a provider, a model and a theme", Args: cobra.NoArgs,
		Long: `Choose a provider, a model and a theme. The key goes to .env, which only you can read; the rest to config.yaml.
Nothing is written before the last answer.`,
		RunE: func(*cobra.Command, []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			a := answers{provider: start.Config.Model.Provider, model: start.Config.Model.Default, theme: start.Config.Display.Theme}
			if base.IsTerminal(c.Streams.In) && base.IsTerminal(c.Streams.Out) {
				err = wizard(&a, start.Config)
			} else {
				err = prompts(&a, start.Config, c.Streams.In, c.Streams.Out)
			}
			if err != nil {
				return err
			}
			return c.apply(start.Config, a)
		},
	}
}

// pickChoice is what a name means: one of the choices, another vendor, or a server of one's own.
func pickChoice(name string) choice {
	for _, ch := range choices() {
		if ch.name == name {
			return ch
		}
	}
	if v, known := provider.Shipped().Named(name); known {
		return choice{name: v.Name, title: v.Name, baseURL: v.BaseURL, keyEnv: v.KeyEnv, closed: v.Closed}
	}
	return choice{name: name, title: name, keyEnv: connect.KeyName(name)}
}

func wizard(a *answers, cfg *config.Config) error {
	options := make([]huh.Option[string], len(choices()))
	for i, ch := range choices() {
		options[i] = huh.NewOption(ch.title, ch.name)
	}
	before := a.provider
	if pickChoice(a.provider).title == a.provider {
		a.provider = choices()[0].name
	}
	err := huh.NewForm(huh.NewGroup(huh.NewSelect[string]().Title("Which model server?").Options(options...).Value(&a.provider))).Run()
	if err != nil {
		return aborted(err)
	}
	ch := pickChoice(a.provider)
	a.baseURL = ch.baseURL
	a.modelOf(before)
	var fields []huh.Field
	if ch.name == "custom" {
		fields = append(fields, huh.NewInput().Title("Its address").Placeholder("https://host/v1").Value(&a.baseURL).Validate(addressLike))
	}
	if ch.keyEnv != "" {
		fields = append(fields, huh.NewInput().Title("Your key").Description("kept in .env; empty leaves it as it is").EchoMode(huh.EchoModePassword).Value(&a.key))
	}
	if ch.name != "offline" {
		fields = append(fields, huh.NewInput().Title("Model").Description("empty: the first that the server offers").Value(&a.model))
	}
	fields = append(fields, huh.NewInput().Title("Theme").Description("default fits the terminal; the workbench shows all of them").Value(&a.theme).
		Validate(func(name string) error { return base.CheckTheme(name, cfg.Paths()) }))
	err = huh.NewForm(huh.NewGroup(fields...)).Run()
	a.nameServer(cfg)
	return aborted(err)
}

// nameServer gives another server a name by its address, as /connect does.
func (a *answers) nameServer(cfg *config.Config) {
	if a.provider == connect.Custom {
		a.provider = connect.OwnName(a.baseURL, cfg)
	}
}

// modelOf drops the model that stood in the settings when the provider is another one now: it is
// not offered there.
func (a *answers) modelOf(before string) {
	if before != "" && a.provider != before {
		a.model = ""
	}
}

func aborted(err error) error {
	if errors.Is(err, huh.ErrUserAborted) {
		return base.Failed(base.ExitInterrupted, "setup stopped; nothing was changed")
	}
	return err
}

func addressLike(s string) error {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return errors.New("begin with http:// or https://")
	}
	return nil
}

// prompts asks the same on plain lines; an empty line takes what stands in brackets.
func prompts(a *answers, cfg *config.Config, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	ask := func(question, fallback string) string {
		fmt.Fprintf(out, "%s [%s]: ", question, fallback)
		answer := ""
		if lines.Scan() {
			answer = strings.TrimSpace(lines.Text())
		}
		fmt.Fprintln(out)
		if answer == "" {
			return fallback
		}
		return answer
	}
	names := make([]string, len(choices()))
	for i, ch := range choices() {
		names[i] = ch.name
	}
	before := a.provider
	if a.provider == "" {
		a.provider = choices()[0].name
	}
	a.provider = ask("Provider ("+strings.Join(names, ", ")+")", a.provider)
	ch := pickChoice(a.provider)
	a.provider, a.baseURL = ch.name, ch.baseURL
	a.modelOf(before)
	if ch.baseURL == "" && ch.name != "offline" {
		a.baseURL = ask("Address, like https://host/v1", cfg.Providers[ch.name].BaseURL)
		a.nameServer(cfg)
		ch = pickChoice(a.provider)
	}
	if ch.keyEnv != "" {
		a.key = ask("Key, kept in .env as "+ch.keyEnv+"; empty leaves it as it is", "")
	}
	if ch.name != "offline" {
		a.model = ask("Model; empty: the first that the server offers", a.model)
	}
	a.theme = ask("Theme", a.theme)
	return lines.Err()
}

// apply writes the answers: the secret first, because without it the rest is of no use.
func (c *command) apply(cfg *config.Config, a answers) error {
	ch, paths := pickChoice(a.provider), cfg.Paths()
	if err := a.check(cfg); err != nil {
		return base.Failed(base.ExitUsage, "%w; nothing was changed", err)
	}
	if a.key != "" {
		if err := config.SetSecret(paths, ch.keyEnv, a.key); err != nil {
			return err
		}
	}
	settings := [][2]string{{"model.provider", a.provider}, {"model.default", a.model}, {"display.theme", a.theme}}
	if a.baseURL != "" {
		settings = append(settings, [2]string{"providers." + a.provider + ".base_url", a.baseURL})
	}
	if c.wantsKey(paths, ch, a) {
		settings = append(settings, [2]string{"providers." + a.provider + ".key_env", ch.keyEnv})
	}
	for _, s := range settings {
		if err := config.Set(paths, s[0], s[1]); err != nil {
			return base.Failed(base.ExitUsage, "%w", err)
		}
	}
	_, err := fmt.Fprintf(c.Streams.Out, "Written to %s.\n`hermes` opens the workbench, `hermes doctor` looks for problems.\n", paths.ConfigFile)
	return err
}

// check looks at the answers before anything is written.
func (a *answers) check(cfg *config.Config) error {
	ch := pickChoice(a.provider)
	if ch.closed != "" {
		return fmt.Errorf("%s: %s", ch.name, ch.closed)
	}
	if ch.own() {
		own := connect.Choice{Server: connect.Server{Name: ch.name, BaseURL: a.baseURL, Own: true}}
		if err := addressLike(a.baseURL); err != nil {
			return fmt.Errorf("address %q: %w", a.baseURL, err)
		}
		if err := own.CheckName(cfg); err != nil {
			return err
		}
	}
	return base.CheckTheme(a.theme, cfg.Paths())
}

// own reports whether it is a server of the person's own.
func (ch choice) own() bool {
	_, known := provider.Shipped().Named(ch.name)
	return !known && ch.name != provider.Offline
}

// wantsKey reports whether the provider's key belongs into the settings. A server of one's own
// often wants none, and a name without a key behind it would be a mistake for doctor to find.
func (c *command) wantsKey(paths config.Paths, ch choice, a answers) bool {
	if ch.keyEnv == "" || !ch.own() || a.key != "" {
		return ch.keyEnv != ""
	}
	cfg, _ := config.Load(config.Options{Home: paths.Home, Env: c.Env})
	_, there := cfg.Secret(ch.keyEnv)
	return there
}
