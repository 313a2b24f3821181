package sessions

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/client"
	"hermes/core/event"
	"hermes/ui/cli/base"
)

// attempt is one call of a model, as `sessions attempts` tells it.
type attempt struct {
	At      time.Time     `json:"at"`
	Message int64         `json:"message"` // that was to be answered
	N       int64         `json:"n"`
	Model   string        `json:"model"`           // provider/model
	Class   string        `json:"class,omitempty"` // of the failure; empty: it worked
	HTTP    int           `json:"http,omitempty"`
	Took    time.Duration `json:"took"`
	Bytes   int64         `json:"bytes"` // of text, reasoning and calls that came
}

func (c *command) sessionsAttempts() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "attempts SESSION", Short: "List the calls of models that a session made, with those that failed", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.WithSession(cmd, args[0], func(ctx context.Context, s client.Sessions, info event.SessionInfo) error {
				stored, err := s.Attempts(ctx, info.UID)
				if err != nil {
					return err
				}
				out := make([]attempt, 0, len(stored))
				for _, a := range stored {
					out = append(out, attempt{
						At: time.UnixMilli(a.Started), Message: a.Message, N: a.N, Model: a.Provider + "/" + a.Model, Class: a.ErrorClass,
						HTTP: a.HTTP, Took: time.Duration(a.Took) * time.Millisecond, Bytes: a.Bytes,
					})
				}
				if asJSON {
					return base.WriteJSON(c.Streams.Out, out, true)
				}
				return c.printAttempts(out)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) printAttempts(all []attempt) error {
	t := base.Table{}
	for _, a := range all {
		cause := event.Cause{Class: cmp.Or(a.Class, "ok"), HTTP: a.HTTP}
		t.Row(a.At.Local().Format("2006-01-02 15:04:05"), "message "+strconv.FormatInt(a.Message, 10), base.OneLine(a.Model), cause.String(),
			a.Took.String(), base.ByteSize(a.Bytes))
	}
	if len(all) == 0 {
		c.Note("no model was called in this session")
	}
	return t.Write(c.Streams.Out)
}
