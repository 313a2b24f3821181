package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hermes/core/recall"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

// vectorsJSON is what `hermes memory embed --json` prints.
type vectorsJSON struct {
	Model string `json:"model"` // "" when none is set up
	Facts int    `json:"facts"`
	Have  int    `json:"have"` // of them have a vector
	Made  int    `json:"made"`
}

func (c *command) embed() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "embed", Short: "Make the vectors of long-term memory that are missing", Args: cobra.NoArgs,
		Long: `Make the vectors of long-term memory that are missing, with the model of memory.embedding.model.

The program does that by itself while it runs. This does it at once, after much was stored or another model was chosen.`,
		RunE: func(*cobra.Command, []string) error {
			return c.withFacts(func(ctx context.Context, s *recall.Store) error {
				return c.embedAll(ctx, s, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) embedAll(ctx context.Context, s *recall.Store, asJSON bool) error {
	var v vectorsJSON
	var wrong error
	for {
		n, err := s.Embed(ctx, 256)
		if v.Made += n; err != nil || n == 0 {
			wrong = err
			break
		}
		if !asJSON {
			c.Note("%d made", v.Made)
		}
	}
	var err error
	if v.Model, v.Have, err = s.Vectors(ctx); err == nil {
		v.Facts, err = s.Count(ctx)
	}
	if err != nil {
		return base.Failed(base.ExitFailed, "%w", err)
	}
	switch {
	case asJSON:
		if err := base.WriteJSON(c.Streams.Out, v, true); err != nil {
			return err
		}
	case v.Model == "":
		fmt.Fprintln(c.Streams.Out, "No model makes vectors: long-term memory is found by words. Name one with memory.embedding.model.")
	default:
		fmt.Fprintf(c.Streams.Out, "%d of %d facts have a vector by %s.\n", v.Have, v.Facts, base.OneLine(text.Sanitize(v.Model)))
	}
	if wrong != nil {
		return base.Failed(base.ExitFailed, "%w", wrong)
	}
	return nil
}

const soon = 5 * time.Second

// embedSome makes vectors for what was stored just now, if that is quick. What is left waits for
// the program, or for `hermes memory embed`.
func (c *command) embedSome(ctx context.Context, s *recall.Store) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	if _, err := s.Embed(ctx, 256); err != nil {
		c.Note("no vectors yet, it is found by words: %s", base.OneLine(text.Sanitize(err.Error())))
	}
}
