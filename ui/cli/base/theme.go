package base

import (
	"hermes/core/config"
	"hermes/themes"
)

// CheckTheme tries a theme by its name. The settings know the name only: themes belong to the
// screen. That is why loading them does not complain, and a skin that a Python hermes in the same
// home has of its own does no harm.
func CheckTheme(name string, paths config.Paths) error {
	if name == "" || name == "default" {
		return nil
	}
	_, err := themes.Load(name, paths.ThemesDir)
	return err
}
