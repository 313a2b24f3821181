package base

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"hermes/core"
	"hermes/core/config"
	"hermes/core/nearest"
	"hermes/core/prompt"
	"hermes/themes"
)

// WrongName is a setting that names what is not there.
type WrongName struct {
	Where string // file and line, or what else says it; "" when it is part of the text
	Text  string
	Holds string // what holds instead; may be empty
	Fix   string

	Doubtful bool // what it names is there, but gives nothing, or less than it says
}

func (w WrongName) String() string {
	out := w.Text
	if w.Where != "" {
		out = w.Where + ": " + out
	}
	if w.Holds != "" {
		out += "; " + w.Holds
	}
	return out
}

// CheckTheme tries a theme by its name.
func CheckTheme(name string, paths config.Paths) error {
	if name == "" || name == "default" {
		return nil
	}
	_, err := themes.Load(name, paths.ThemesDir)
	return err
}

// WrongNames finds the settings that name what is not there. The settings know such names as texts
// only: themes and keys belong to the screen, toolsets to the tools, providers to the models. That
// is why loading them does not complain, and a skin that a Python hermes in the same home has of
// its own does no harm.
func (c *Command) WrongNames(ctx context.Context, cfg *config.Config) []WrongName {
	const edit = "`hermes config edit` opens the file"
	var out []WrongName
	if err := CheckTheme(cfg.Display.Theme, cfg.Paths()); err != nil {
		out = append(out, WrongName{
			Where: cfg.Origin("display.theme"), Text: err.Error(), Holds: "the default is shown instead", Fix: "`hermes config set display.theme hermes`",
		})
	}
	if c.Program.KeyProblems != nil {
		unknown, conflicts := c.Program.KeyProblems(cfg.Keys)
		for _, p := range unknown {
			out = append(out, WrongName{Text: p, Fix: "docs/keys.md has the ids; " + edit})
		}
		for _, p := range conflicts {
			out = append(out, WrongName{Text: p, Fix: edit, Doubtful: true})
		}
	}
	for _, t := range core.CheckToolsets(cfg) {
		out = append(out, WrongName{Where: cfg.Origin("toolsets"), Text: t.Text, Fix: edit, Doubtful: t.Empty})
	}
	wrong := core.CheckProviders(cfg)
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		out = append(out, WrongName{Where: cfg.Origin(key), Text: key + ": " + wrong[key].Error(), Fix: edit})
	}
	for _, f := range core.CheckFallbacks(ctx, cfg) {
		if f.Err != nil {
			out = append(out, WrongName{
				Where: cfg.Origin("fallback_providers"), Text: fmt.Sprintf("fallback %s cannot answer: %v", f.Ref, f.Err),
				Fix: "`hermes config set fallback_providers` names others", Doubtful: true,
			})
		}
	}
	for _, name := range unknownSkills(ctx, cfg) {
		out = append(out, WrongName{Where: cfg.Origin("skills.disabled"), Text: name, Fix: "`hermes skills list` shows those there are", Doubtful: true})
	}
	return out
}

// unknownSkills says which skills are switched off that are not there, here and now: another
// project may have them.
func unknownSkills(ctx context.Context, cfg *config.Config) (out []string) {
	if len(cfg.Skills.Disabled) == 0 {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil // there is no project
	}
	lib, project, names := core.OpenSkills(cfg), prompt.ProjectRoot(here), []string{}
	for _, r := range lib.Glance(ctx, project) {
		names = append(names, r.Name)
	}
	for _, p := range lib.Procedures(ctx, project) {
		names = append(names, p.Name)
	}
	for _, name := range cfg.Skills.Disabled {
		if slices.Contains(names, name) {
			continue
		}
		text := fmt.Sprintf("there is no skill %q to switch off", name)
		if near, ok := nearest.Name(name, names); ok {
			text += ", did you mean " + near + "?"
		}
		out = append(out, text)
	}
	return out
}
