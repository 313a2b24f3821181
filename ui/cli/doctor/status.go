package doctor

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hermes/ui/cli/base"
	"hermes/ui/text"
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

// Status makes `hermes status`.
func Status(line *base.Command) *cobra.Command {
	c := &command{line}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show where things are and what is chosen", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			start, err := c.Load()
			if err != nil {
				return err
			}
			s := c.statusOf(start)
			if asJSON {
				return base.WriteJSON(c.Streams.Out, s, true)
			}
			return c.printStatus(s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) statusOf(start base.Start) status {
	cfg, paths := start.Config, start.Config.Paths()
	x := examination{c: c, start: start}
	s := status{
		Program: c.Version().String(), Home: paths.Home, Profile: paths.Profile, Model: cfg.Model.Default,
		Provider: cfg.Model.Provider, Backend: cfg.Terminal.Backend, Approval: cfg.Approvals.Mode, Theme: cfg.Display.Theme,
		Keys: append([]string{}, x.providerKeys()...), Problems: []string{},
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
	t := base.Table{}
	t.Row("program", s.Program)
	t.Row("home", s.Home)
	if s.Profile != "" {
		t.Row("profile", s.Profile)
	}
	model := s.Model
	if model == "" {
		model = "not chosen: the first provider with a key, a server on this machine, or offline"
	}
	t.Row("model", model)
	if s.Provider != "" {
		t.Row("provider", s.Provider)
	}
	for _, key := range s.Keys {
		t.Row("key", key)
	}
	t.Row("back end", s.Backend)
	t.Row("approvals", s.Approval)
	t.Row("theme", s.Theme)
	t.Row("database", base.ByteSize(s.Database))
	if n := len(s.Problems); n > 0 {
		t.Row("settings", fmt.Sprintf("%s, see `hermes config check`", text.Count(n, "mistake", "mistakes")))
	}
	return t.Write(c.Streams.Out)
}
