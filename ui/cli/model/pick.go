package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/charmbracelet/huh"

	"hermes/core/client"
	"hermes/core/provider"
	"hermes/ui/cli/base"
)

const pickHeight = 16 // lines of the list with its title, at most

// pickModel lets the person at the terminal choose the model of new sessions.
func (c *command) pickModel(ctx context.Context, m client.Models) error {
	list := m.List(ctx)
	p, now, err := m.Resolve(ctx, "")
	switch {
	case len(list) == 0 && err != nil:
		return base.Failed(base.ExitUsage, "%w", err)
	case len(list) == 0:
		c.Note("no provider lists its models; `hermes setup` chooses a provider, `hermes model set PROVIDER/MODEL` names a model")
		return c.showModel(ctx, m, "", false)
	}
	chosen := ""
	if err == nil {
		chosen = p.Name() + "/" + now.ID
	}
	before := chosen
	pick := huh.NewSelect[string]().Title("Which model for new sessions?").
		Description("/ searches, enter takes, ctrl+c leaves it as it is; `hermes setup` adds a provider").
		Options(modelOptions(list)...).Height(min(len(list)+3, pickHeight)).Value(&chosen)
	if err := huh.NewForm(huh.NewGroup(pick)).Run(); errors.Is(err, huh.ErrUserAborted) {
		return base.Failed(base.ExitInterrupted, "nothing was changed")
	} else if err != nil {
		return err
	}
	if chosen == before {
		c.Note("new sessions use %s, as before", base.OneLine(before))
		return nil
	}
	i := slices.IndexFunc(list, func(m provider.Model) bool { return m.Provider+"/"+m.ID == chosen })
	return c.setModel(list[i].Provider, list[i].ID)
}

// modelOptions are the lines of the list: by provider, each with window, prices and abilities.
func modelOptions(list []provider.Model) []huh.Option[string] {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b provider.Model) int { return cmp.Compare(a.Provider, b.Provider) })
	wide, figures := 0, 0
	for _, m := range list {
		wide, figures = max(wide, len(base.OneLine(m.Provider+"/"+m.ID))), max(figures, len(m.Figures()))
	}
	wide = min(wide, 48)
	out := make([]huh.Option[string], len(list))
	for i, m := range list {
		name := m.Provider + "/" + m.ID
		line := fmt.Sprintf("%-*s  %*s  %s", wide, base.OneLine(name), figures, m.Figures(), m.Abilities())
		if !m.Key {
			line += "  (no key)"
		}
		out[i] = huh.NewOption(line, name)
	}
	return out
}
