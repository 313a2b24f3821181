package setup

import (
	"context"
	"errors"

	"github.com/charmbracelet/huh"

	"hermes/core/config"
	"hermes/core/connect"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// What a person can do when the answers do not work.
const (
	otherAnswers = "other"
	keepThem     = "keep"
	stopHere     = "stop"
)

// askInForms asks on a terminal until what is answered works, or the person keeps it all the same.
func (c *command) askInForms(ctx context.Context, a answers, cfg *config.Config) error {
	for {
		if err := c.fillForms(ctx, &a, cfg); err != nil {
			return err
		}
		choice, err := c.tryAnswers(ctx, &a, cfg)
		if err == nil {
			return c.save(cfg, a, choice)
		}
		next := otherAnswers
		options := []huh.Option[string]{huh.NewOption("Change the answers", otherAnswers), huh.NewOption("Stop; nothing is changed", stopHere)}
		if a.check(cfg) == nil {
			options = append(options, huh.NewOption("Keep it all the same", keepThem))
		}
		ask := huh.NewSelect[string]().Title("It does not work yet").Description(text.Sanitize(connect.FailureWords(err))).Options(options...).Value(&next)
		if err := huh.NewForm(huh.NewGroup(ask)).Run(); err != nil {
			return aborted(err)
		}
		switch next {
		case keepThem:
			return c.save(cfg, a, choice)
		case stopHere:
			return aborted(huh.ErrUserAborted)
		}
	}
}

// fillForms asks for everything; what was answered before is offered again.
func (c *command) fillForms(ctx context.Context, a *answers, cfg *config.Config) error {
	options := make([]huh.Option[string], len(choices()))
	for i, ch := range choices() {
		options[i] = huh.NewOption(ch.title, ch.name)
	}
	before, address := a.provider, a.baseURL
	if ch := pickChoice(a.provider); ch.title == a.provider {
		a.provider = choices()[0].name
		if address != "" {
			a.provider = connect.Custom
		}
	}
	err := huh.NewForm(huh.NewGroup(huh.NewSelect[string]().Title("Which model server?").Description("/ searches").Options(options...).Height(listRows).Value(&a.provider))).Run()
	if err != nil {
		return aborted(err)
	}
	ch := pickChoice(a.provider)
	if a.baseURL = ch.baseURL; ch.name == connect.Custom {
		a.baseURL = address
	} else {
		a.modelOf(before)
	}
	if ch.name == connect.Custom {
		ask := huh.NewInput().Title("Its address").Placeholder("https://host/v1").Value(&a.baseURL).Validate(addressLike)
		if err := huh.NewForm(huh.NewGroup(ask)).Run(); err != nil {
			return aborted(err)
		}
	}
	a.baseURL = connect.CompleteAddress(a.baseURL)
	a.dropKeyOf(address)
	if ch.keyEnv != "" {
		ask := huh.NewInput().Title("Your key").Description("kept in .env; empty leaves it as it is").EchoMode(huh.EchoModePassword).Value(&a.key)
		if err := huh.NewForm(huh.NewGroup(ask)).Run(); err != nil {
			return aborted(err)
		}
	}
	a.nameServer(cfg)
	var fields []huh.Field
	if a.provider != "offline" {
		fields = append(fields, c.modelField(ctx, a, cfg))
	}
	fields = append(fields, huh.NewInput().Title("Theme").Description("default fits the terminal; the workbench shows all of them").Value(&a.theme).
		Validate(func(name string) error { return base.CheckTheme(name, cfg.Paths()) }))
	return aborted(huh.NewForm(huh.NewGroup(fields...)).Run())
}

// dropKeyOf drops the key that was typed for the server at an address, where the answers name
// another one by now: it goes nowhere else.
func (a *answers) dropKeyOf(address string) {
	if a.baseURL != address {
		a.key = ""
	}
}

// modelField asks for a model of the server's list, or for its name where there is none.
func (c *command) modelField(ctx context.Context, a *answers, cfg *config.Config) huh.Field {
	about := "empty: the first that the server offers"
	if !c.noCheck && c.Program.Kinds != nil && a.check(cfg) == nil {
		choice := a.choice(cfg)
		list, err := choice.Models(ctx, cfg, c.Program.Kinds)
		if err == nil && len(list) > 0 {
			options := make([]huh.Option[string], len(list))
			for i, m := range list {
				options[i] = huh.NewOption(base.OneLine(m.ID), m.ID)
			}
			return huh.NewSelect[string]().Title("Model").Description("/ searches").Options(options...).Height(min(len(list)+3, listRows)).Value(&a.model)
		}
		if err != nil {
			about = base.OneLine("it does not list them: " + connect.FailureWords(err))
		}
	}
	return huh.NewInput().Title("Model").Description(about).Value(&a.model)
}

const listRows = 14 // of a list with its title, at most: more would not fit a small terminal

func aborted(err error) error {
	if errors.Is(err, huh.ErrUserAborted) {
		return base.Failed(base.ExitInterrupted, "setup stopped; nothing was changed")
	}
	return err
}
