// Package setup is the command `hermes setup`: the questions of a first start.
package setup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

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
type command struct {
	*base.Command
	noCheck bool // write it down untried
}

// Command makes `hermes setup`.
func Command(line *base.Command) *cobra.Command {
	c := &command{Command: line}
	cmd := &cobra.Command{
		Use: "setup", Short: "Choose a provider, a model and a theme", Args: cobra.NoArgs,
		Long: `Choose a provider, a model and a theme. The key goes to .env, which only you can read; the rest to config.yaml.
Nothing is written before the last answer, and before the model has begun an answer with the key, or you say that it need not.
Without a terminal what does not answer is not written down; --no-check writes it untried.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			a := answers{provider: start.Config.Model.Provider, model: start.Config.Model.Default, theme: start.Config.Display.Theme}
			if base.IsTerminal(c.Streams.In) && base.IsTerminal(c.Streams.Out) {
				return c.askInForms(cmd.Context(), a, start.Config)
			}
			if err := prompts(&a, start.Config, c.Streams.In, c.Streams.Out); err != nil {
				return err
			}
			choice, err := c.tryAnswers(cmd.Context(), &a, start.Config)
			switch {
			case err == nil:
				return c.save(start.Config, a, choice)
			case a.check(start.Config) != nil:
				return err
			}
			return base.Failed(base.ExitProvider, "%s was tried and does not work so: %s; nothing was changed (--no-check writes it untried)",
				choice.Server.Name, base.OneLine(connect.FailureWords(err)))
		},
	}
	cmd.Flags().BoolVar(&c.noCheck, "no-check", false, "write it down without trying server, key and model")
	return cmd
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

func addressLike(s string) error {
	if !connect.IsAddress(strings.TrimSpace(s)) {
		return errors.New("write it like https://host/v1")
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
		a.baseURL = connect.CompleteAddress(ask("Address, like https://host/v1", cfg.Providers[ch.name].BaseURL))
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

// check looks at the answers before anything is written.
func (a *answers) check(cfg *config.Config) error {
	ch := pickChoice(a.provider)
	a.baseURL = connect.CompleteAddress(a.baseURL)
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
