// Package picture is the command `hermes picture`: it shows an image in the terminal.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // decoder
	_ "image/png"  // decoder
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"hermes/core/chat"
	"hermes/core/content"
	"hermes/core/crash"
	"hermes/ui/cli/base"
	"hermes/ui/picture"
	"hermes/ui/text"
)

type flags struct {
	protocol string
	wait     bool
}

// Command makes `hermes picture`.
func Command(c *base.Command) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "picture <file>", Short: "Show an image in the terminal",
		Long: `Show an image in the terminal: a file, or the handle (sha256:...) of one that a conversation holds.

The terminal is asked what it knows: kitty's graphics, iTerm2's inline images, sixel. Where it knows none of them, and in a tmux
that draws no sixel, the image is made of coloured half blocks.`,
		Example: "  hermes picture chart.png\n  hermes picture sha256:1d71945842c4 --protocol blocks",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(picture.Protocols(), f.protocol) {
				return base.UsageError("--protocol %s: choose %s", f.protocol, strings.Join(picture.Protocols(), ", "))
			}
			m, name, err := load(c, args[0])
			if err != nil {
				return base.Failed(base.ExitUsage, "%w", err)
			}
			return show(c, m, name, f)
		},
	}
	cmd.Flags().StringVar(&f.protocol, "protocol", string(picture.Auto), "how: "+strings.Join(picture.Protocols(), ", "))
	cmd.Flags().BoolVar(&f.wait, "wait", false, "take the whole screen until a key is pressed")
	return cmd
}

// load decodes a file, or what is kept under a handle, within the limits of attached images.
func load(c *base.Command, ref string) (image.Image, string, error) {
	path := ref
	if hash, ok := strings.CutPrefix(ref, chat.HandlePrefix); ok {
		paths, err := c.Paths()
		if err != nil {
			return nil, "", err
		}
		if path = kept(filepath.Join(filepath.Dir(paths.DB), "blobs"), hash); path == "" {
			return nil, "", fmt.Errorf("no image is kept under %s", ref)
		}
	}
	p, err := content.Load(".", path)
	switch {
	case err != nil:
		return nil, "", err
	case p.Kind != chat.PartImage:
		return nil, "", fmt.Errorf("%s is no image", ref)
	}
	if len(p.Name) > 40 && strings.Trim(p.Name, "0123456789abcdef") == "" { // a file of the store
		p.Name = "image"
	}
	m, _, err := image.Decode(bytes.NewReader(p.Data))
	return m, fmt.Sprintf("%s  %dx%d", base.OneLine(p.Name), p.Width, p.Height), err
}

// kept is the file whose name begins with hash; "" when there is none, or more than one.
func kept(folder, hash string) string {
	if len(hash) < 8 || len(hash) > 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(folder, hash[:2], hash[2:]+"*"))
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// show draws the image where the cursor is, or on the whole screen.
func show(c *base.Command, m image.Image, name string, f flags) error {
	out, ok := c.Streams.Out.(*os.File)
	if !ok || !base.IsTerminal(out) {
		return base.UsageError("a picture needs a terminal to be shown in")
	}
	cols, rows, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return err
	}
	room := picture.Room{Cols: cols, Rows: max(rows-2, 1)}
	way := picture.Protocol(f.protocol)
	var keys <-chan []byte
	if in, ok := c.Streams.In.(*os.File); ok && base.IsTerminal(in) && (f.wait || way != picture.Blocks) {
		restore, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return err
		}
		defer func() { _ = term.Restore(int(in.Fd()), restore) }() // the terminal is as it was, or gone
		keys = listen(in)
		asked, cw, ch := picture.Ask(out, keys, c.Getenv("TMUX") != "")
		if cw == 0 {
			cw, ch = cellSize(out, cols, rows)
		}
		room.CellWidth, room.CellHeight = cw, ch
		if way == picture.Auto {
			way = asked
		}
	}
	if !f.wait || keys == nil {
		_, err = picture.Draw(out, m, way, room)
		return err
	}
	return look(out, keys, func(room picture.Room) error {
		_, err := picture.Draw(out, m, way, room)
		const back = "any key goes back"
		note := fmt.Sprintf("%s (%s)  %s", name, way, back)
		if text.Width(note) > room.Cols {
			note = text.Truncate(back, room.Cols, "")
		}
		_, end := fmt.Fprintf(out, "\x1b[%d;1H\x1b[0m%s", room.Rows+2, note)
		return errors.Join(err, end)
	}, func() error { return picture.Clear(out, way) }, room)
}

// look shows what draw draws on the whole screen until a key is pressed, anew in the new room each
// time the terminal has another size. What was drawn is cleared each time.
func look(out *os.File, keys <-chan []byte, draw func(picture.Room) error, clean func() error, room picture.Room) (err error) {
	const enter, leave, empty = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[0m\x1b[H\x1b[2J"
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, unix.SIGWINCH)
	defer signal.Stop(resized)
	if _, err := io.WriteString(out, enter); err != nil {
		return err
	}
	defer func() {
		unclean := clean()
		_, end := io.WriteString(out, leave)
		err = errors.Join(err, unclean, end)
	}()
	for {
		if _, err := io.WriteString(out, empty); err != nil {
			return err
		}
		if err := draw(room); err != nil {
			return err
		}
		select {
		case <-keys:
			return nil
		case <-resized:
		}
		if err := clean(); err != nil {
			return err
		}
		if cols, rows, err := term.GetSize(int(out.Fd())); err == nil && cols > 0 && rows > 0 {
			room.Cols, room.Rows = cols, max(rows-2, 1)
			if w, h := cellSize(out, cols, rows); w > 0 && h > 0 {
				room.CellWidth, room.CellHeight = w, h
			}
		}
	}
}

// cellSize is the pixels of a cell as the system knows them; 0 when it does not.
func cellSize(out *os.File, cols, rows int) (w, h int) {
	size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
	if err != nil || cols == 0 || rows == 0 {
		return 0, 0
	}
	return int(size.Xpixel) / cols, int(size.Ypixel) / rows
}

// listen reads keys until the terminal is gone. It ends with the process.
func listen(in io.Reader) <-chan []byte {
	keys := make(chan []byte)
	crash.Go("keys of a picture", func() {
		defer close(keys)
		for {
			b := make([]byte, 256)
			n, err := in.Read(b)
			if n > 0 {
				keys <- b[:n]
			}
			if err != nil {
				return
			}
		}
	})
	return keys
}
