package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// status is where things are and what is chosen. It opens nothing and uses no network.
type status struct {
	Program  string   `json:"program"`
	Home     string   `json:"home"`
	Profile  string   `json:"profile,omitempty"`
	Model    string   `json:"model,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Backend  string   `json:"backend"`
	Approval string   `json:"approvals"`
	Theme    string   `json:"theme"`
	Database int64    `json:"database_bytes"`
	Keys     []string `json:"keys"` // names of the variables, never their values
	Problems []string `json:"problems"`
}

func (c *command) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show where things are and what is chosen", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			start, err := c.load()
			if err != nil {
				return err
			}
			s := c.status(start)
			if asJSON {
				return writeJSON(c.streams.Out, s, true)
			}
			return c.printStatus(s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) status(start Start) status {
	cfg, paths := start.Config, start.Config.Paths()
	x := examination{c: c, start: start}
	s := status{
		Program: c.version().String(), Home: paths.Home, Profile: paths.Profile, Model: cfg.Model.Default,
		Provider: cfg.Model.Provider, Backend: cfg.Terminal.Backend, Approval: cfg.Approvals.Mode, Theme: cfg.Display.Theme,
		Keys: append([]string{}, x.keys()...), Problems: []string{},
	}
	if info, err := os.Stat(paths.DB); err == nil {
		s.Database = info.Size()
	}
	for _, p := range start.Problems {
		s.Problems = append(s.Problems, p.String())
	}
	return s
}

func (c *command) printStatus(s status) error {
	t := table{}
	t.row("program", s.Program)
	t.row("home", s.Home)
	if s.Profile != "" {
		t.row("profile", s.Profile)
	}
	model := s.Model
	if model == "" {
		model = "not chosen: the first provider with a key, a server on this machine, or offline"
	}
	t.row("model", model)
	if s.Provider != "" {
		t.row("provider", s.Provider)
	}
	for _, key := range s.Keys {
		t.row("key", key)
	}
	t.row("back end", s.Backend)
	t.row("approvals", s.Approval)
	t.row("theme", s.Theme)
	t.row("database", bytesText(s.Database))
	if n := len(s.Problems); n > 0 {
		t.row("settings", fmt.Sprintf("%s, see `hermes config check`", count(n, "mistake", "mistakes")))
	}
	return t.write(c.streams.Out)
}
