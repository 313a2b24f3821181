package setup

import (
	"context"
	"errors"
	"fmt"

	"hermes/core/config"
	"hermes/core/connect"
	"hermes/core/provider"
	"hermes/ui/cli/base"
)

// choice is what the answers mean to who tries it and writes it down, as /connect does.
func (a *answers) choice(cfg *config.Config) connect.Choice {
	ch := pickChoice(a.provider)
	s := connect.Server{Name: a.provider, BaseURL: a.baseURL, KeyEnv: ch.keyEnv, Own: ch.own()}
	for _, known := range connect.Servers(cfg) {
		if known.Name == s.Name && known.BaseURL == s.BaseURL {
			s = known
		}
	}
	return connect.Choice{Server: s, Key: a.key, Model: a.model}
}

// tryAnswers looks at the answers and has the model begin an answer, the first of the server's list
// where none is named. It writes nothing.
func (c *command) tryAnswers(ctx context.Context, a *answers, cfg *config.Config) (connect.Choice, error) {
	if err := a.check(cfg); err != nil {
		return connect.Choice{}, base.Failed(base.ExitUsage, "%w; nothing was changed", err)
	}
	choice := a.choice(cfg)
	if c.noCheck || c.Program.Kinds == nil || a.provider == provider.Offline {
		return choice, nil
	}
	err := c.tryChoice(ctx, &choice, cfg)
	if err == nil {
		a.model = choice.Model
		return choice, nil
	}
	return choice, err
}

func (c *command) tryChoice(ctx context.Context, choice *connect.Choice, cfg *config.Config) error {
	if choice.Model == "" {
		c.Note("asking %s for its models ...", choice.Server.Host())
		list, err := choice.Models(ctx, cfg, c.Program.Kinds)
		if err == nil && len(list) == 0 {
			err = errors.New("the server lists no models: name one")
		}
		if err != nil {
			return err
		}
		choice.Model = list[0].ID
	}
	c.Note("trying %s with one word ...", choice.Model)
	if err := choice.Try(ctx, cfg, c.Program.Kinds); err != nil {
		if connect.Refused(err) {
			return err
		}
		return fmt.Errorf("%s did not answer: %s", choice.Model, connect.FailureWords(err))
	}
	c.Note("%s of %s answers", choice.Model, choice.Server.Name)
	return nil
}

// save writes the answers down.
func (c *command) save(cfg *config.Config, a answers, choice connect.Choice) error {
	paths := cfg.Paths()
	settings := [][2]string{{"display.theme", a.theme}}
	if a.provider == provider.Offline {
		settings = append(settings, [2]string{"model.provider", a.provider}, [2]string{"model.default", a.model})
	} else if err := choice.Save(cfg); err != nil {
		return err
	}
	for _, s := range settings {
		if err := config.Set(paths, s[0], s[1]); err != nil {
			return base.Failed(base.ExitUsage, "%w", err)
		}
	}
	_, err := fmt.Fprintf(c.Streams.Out, "Written to %s.\n`hermes` opens the workbench, `hermes doctor` looks for problems.\n", paths.ConfigFile)
	return err
}
