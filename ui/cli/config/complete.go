package config

import (
	"strings"

	"github.com/spf13/cobra"

	"hermes/core/config"
	"hermes/core/tool"
	"hermes/themes"
)

// completeKeys offers the keys of the settings, with what they are for.
func completeKeys(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, k := range config.Schema() {
		if strings.HasPrefix(k.Name, prefix) && !strings.Contains(k.Name, "<") {
			out = append(out, k.Name+"\t"+k.Doc)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeSetting offers keys first, then the values that the key can have.
func (c *command) completeSetting(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return completeKeys(cmd, args, prefix)
	}
	var out []string
	for _, value := range c.valuesOf(args[0]) {
		if value != "" && strings.HasPrefix(value, prefix) {
			out = append(out, value)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// valuesOf lists what a setting can be, nil when that is any text or number.
func (c *command) valuesOf(key string) []string {
	k, ok := config.KeyCalled(key)
	switch {
	case k.Name == "display.theme":
		paths, err := c.Paths()
		if err != nil {
			return nil
		}
		return append([]string{"default"}, themes.Names(paths.ThemesDir)...)
	case k.Name == "toolsets":
		return tool.ToolsetNames()
	case ok && k.Type == "yes or no":
		return []string{"true", "false"}
	default:
		return k.Choices
	}
}
