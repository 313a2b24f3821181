package config

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"hermes/core/config"
	"hermes/ui/cli/base"
)

// foreseeProblems says what would be wrong with the settings if key were value: an error where it
// names what is not there, else doubts. Those refuse nothing: settings are often changed one after
// the other.
func (c *command) foreseeProblems(ctx context.Context, o config.Options, key, value string) (doubts []string, err error) {
	k, ok := config.KeyCalled(key)
	if !ok || k.Secret { // whoever sets it says more
		return nil, nil
	}
	if k.Later {
		doubts = append(doubts, "this version does not use it yet")
	}
	now, _ := config.Load(o)
	o.Flags = maps.Clone(o.Flags)
	o.Flags[key] = value
	then, problems := config.Load(o)
	for _, p := range problems {
		if p.File != config.FromFlags {
			continue
		}
		p.File, p.Line, p.Column = "", 0, 0
		why := strings.TrimPrefix(p.String(), ": ")
		if p.Text == value {
			return nil, errors.New(why)
		}
		doubts = append(doubts, why)
	}
	before := c.WrongNames(ctx, now)
	for _, w := range c.WrongNames(ctx, then) {
		old := slices.ContainsFunc(before, func(b base.WrongName) bool { return b.Text == w.Text })
		switch {
		case w.Where != config.FromFlags && (w.Where != "" || old):
		case w.Doubtful:
			doubts = append(doubts, w.Text)
		default:
			return nil, errors.New(w.Text)
		}
	}
	return doubts, nil
}
