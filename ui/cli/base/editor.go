package base

import (
	"context"
	"fmt"
	"os/exec"
)

// OpenEditor runs $VISUAL or $EDITOR, which may hold arguments, on a file.
func (c *Command) OpenEditor(ctx context.Context, path string) error {
	editor := c.Getenv("VISUAL")
	if editor == "" {
		editor = c.Getenv("EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	run := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", path)
	run.Stdin, run.Stdout, run.Stderr, run.Env = c.Streams.In, c.Streams.Out, c.Streams.Err, c.Env
	if err := run.Run(); err != nil {
		return fmt.Errorf("editor %s: %w; set EDITOR to the one you use", editor, err)
	}
	return nil
}
