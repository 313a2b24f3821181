// Package logs is the command `hermes logs`: the newest lines of the program's log.
package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"

	"hermes/core/logs"
	"hermes/ui/cli/base"
	"hermes/ui/text"
)

const tailBlock = 64 << 10

// command is one command line.
type command struct{ *base.Command }

// Command makes `hermes logs`.
func Command(line *base.Command) *cobra.Command {
	c := &command{line}
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use: "logs", Short: "Show the newest lines of the program's log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths, err := c.Paths()
			if err != nil {
				return err
			}
			err = c.tail(cmd.Context(), paths.LogFile, lines, follow)
			if errors.Is(err, fs.ErrNotExist) {
				c.Note("no log yet: %s", paths.LogFile)
				return nil
			}
			return err
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as lines are written, until ctrl+c")
	cmd.Flags().IntVarP(&lines, "lines", "n", 50, "so many lines")
	return cmd
}

func (c *command) tail(ctx context.Context, path string, lines int, follow bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { file.Close() }()
	last, err := lastLines(file, lines)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	c.logText(last)
	if !follow {
		return nil
	}
	watch, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("follow %s: %w", path, err)
	}
	defer func() { _ = watch.Close() }()
	if err := watch.Add(filepath.Dir(path)); err != nil {
		return fmt.Errorf("follow %s: %w", path, err)
	}
	for {
		if err := c.drain(file); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-watch.Errors: // too many events at once: what was written is read above
			if !open {
				return nil
			}
		case e := <-watch.Events:
			if e.Name == path && e.Op.Has(fsnotify.Create) { // the log was rotated
				if err := c.drain(file); err != nil {
					return err
				}
				if next, err := os.Open(path); err == nil {
					file.Close()
					file = next
				}
			}
		case <-time.After(5 * time.Second): // some network folders send no events
		}
	}
}

// drain prints what was written since.
func (c *command) drain(file *os.File) error {
	data, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", file.Name(), err)
	}
	c.logText(data)
	return nil
}

func (c *command) logText(data []byte) {
	fmt.Fprint(c.Streams.Out, text.Sanitize(logs.Redact(string(data))))
}

// lastLines returns the last n lines and leaves the file at its end. It reads from the end, so that
// a big file costs no more than what is shown.
func lastLines(file *os.File, n int) ([]byte, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || n <= 0 {
		return nil, err
	}
	var data []byte
	for at := size; at > 0 && bytes.Count(data, []byte("\n")) <= n; {
		step := min(int64(tailBlock), at)
		at -= step
		block := make([]byte, step)
		if _, err := file.ReadAt(block, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		data = append(block, data...)
	}
	lines := strings.SplitAfter(string(data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return []byte(strings.Join(lines[max(0, len(lines)-n):], "")), nil
}
