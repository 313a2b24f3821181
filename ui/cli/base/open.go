package base

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/event"
	"hermes/core/session"
)

// OpenFlags choose a session and a model.
type OpenFlags struct {
	Resume string
	last   bool
	Model  string
	Cwd    string
}

// Add gives a command the flags.
func (o *OpenFlags) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.Resume, "resume", "r", "", "go on with a `session`: its id, the start of it, or its title")
	f.BoolVarP(&o.last, "continue", "c", false, "go on with the newest session")
	f.StringVarP(&o.Model, "model", "m", "", "talk to this `model`: provider/model, or a provider")
	f.StringVar(&o.Cwd, "cwd", "", "work in this `folder`")
	cmd.MarkFlagsMutuallyExclusive("resume", "continue")
}

// Session is the reference that the flags make, "" for a new session.
func (o *OpenFlags) Session() string {
	if o.last {
		return "last"
	}
	return o.Resume
}

// LoadWith loads the settings for a run that talks.
func (c *Command) LoadWith(open OpenFlags) (Start, error) {
	start, err := c.Load()
	if err != nil {
		return start, err
	}
	start.Model = open.Model
	start.Cwd, err = c.folder(open.Cwd, start.Config.Terminal.Cwd)
	return start, err
}

// folder is the directory that new sessions work in: the flag, else the setting, else where we are.
func (c *Command) folder(flag, setting string) (string, error) {
	dir := flag
	if dir == "" {
		dir = expandHome(setting, c.Getenv("HOME"))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", UsageError("folder %s: %v", dir, err)
	}
	if !IsFolder(abs) {
		if flag == "" {
			return "", UsageError("folder %s of the setting terminal.cwd is not there; change it with `hermes config set terminal.cwd .`", abs)
		}
		return "", UsageError("--cwd %s: there is no such folder", flag)
	}
	return abs, nil
}

// CloseTime is how long the program may take to end.
const CloseTime = 10 * time.Second

// WithClient opens the program, does work and closes it, on every way out.
func (c *Command) WithClient(ctx context.Context, start Start, work func(context.Context, client.Client) error) (err error) {
	if c.Program.Open == nil {
		return Failed(ExitFailed, "this program was built without the agent")
	}
	app, err := c.Program.Open(ctx, start)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseTime)
		defer cancel()
		err = errors.Join(err, app.Close(ctx))
	}()
	for _, n := range app.OpeningNotices() {
		c.Note("hermes: %s", n.Text+HintSuffix(HintWords(n.Hint, n.Do)))
	}
	return work(ctx, app)
}

// WithSessions opens the program for work on sessions.
func (c *Command) WithSessions(cmd *cobra.Command, work func(context.Context, client.Sessions) error) error {
	return c.WithStored(cmd, func(ctx context.Context, app client.Client) error { return work(ctx, app.History()) })
}

// WithStored works on what is stored with the program open.
func (c *Command) WithStored(cmd *cobra.Command, work func(context.Context, client.Client) error) error {
	start, err := c.Load()
	if err != nil {
		return err
	}
	start.Session = session.Config{Source: "cli", Unattended: true}
	return c.WithClient(cmd.Context(), start, work)
}

// WithFolder works in the folder that hermes was started in with the program open, and says first
// what is wrong with the settings.
func (c *Command) WithFolder(cmd *cobra.Command, work func(context.Context, client.Client) error) error {
	start, err := c.LoadHere()
	if err != nil {
		return err
	}
	return c.WithClient(cmd.Context(), start, work)
}

// LoadHere is LoadWith for work in the folder that hermes was started in; what is wrong with the
// settings it says.
func (c *Command) LoadHere() (Start, error) {
	start, err := c.LoadWith(OpenFlags{})
	if err != nil {
		return start, err
	}
	for _, p := range start.Problems {
		c.Note("hermes: %s", p)
	}
	start.Session = session.Config{Source: "cli", Unattended: true}
	return start, nil
}

// WithSession resolves ref first.
func (c *Command) WithSession(cmd *cobra.Command, ref string, work func(context.Context, client.Sessions, event.SessionInfo) error) error {
	return c.WithSessions(cmd, func(ctx context.Context, s client.Sessions) error {
		info, err := s.Resolve(ctx, ref)
		if err != nil {
			return Failed(ExitUsage, "%w", err)
		}
		return work(ctx, s, info)
	})
}
