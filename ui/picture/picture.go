// Package picture shows an image in a terminal: by kitty's graphics, iTerm2's inline images or
// sixel where the terminal says that it knows them, else by half blocks, which are coloured text.
//
// The contract: the terminal is asked, its name is not trusted; it has one second. Kitty's and
// iTerm2's images are not used inside of tmux, which does not know where they stand; sixel is when
// tmux says that it draws it. Nothing of the file itself reaches the terminal: the image is decoded
// and encoded anew.
package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/sixel"
	"golang.org/x/image/draw"
)

// Protocol is a way to show an image.
type Protocol string

// The protocols, the best last. Auto is the best that the terminal knows.
const (
	Auto   Protocol = "auto"
	Blocks Protocol = "blocks"
	Sixel  Protocol = "sixel"
	ITerm  Protocol = "iterm"
	Kitty  Protocol = "kitty"
)

// Protocols lists all, for help and completion.
func Protocols() []string {
	return []string{string(Auto), string(Blocks), string(Sixel), string(ITerm), string(Kitty)}
}

// Room is where an image may stand.
type Room struct {
	Cols, Rows            int
	CellWidth, CellHeight int // pixels of a cell; 0: not known, 10x20 is assumed
}

func (r Room) cell() (w, h int) {
	if r.CellWidth <= 0 || r.CellHeight <= 0 || r.CellWidth > 200 || r.CellHeight > 200 {
		return 10, 20
	}
	return r.CellWidth, r.CellHeight
}

// Fit is how many cells an image of w x h pixels takes in the room: as large as it fits, never
// larger than it is.
func (r Room) Fit(w, h int) (cols, rows int) {
	if w <= 0 || h <= 0 || r.Cols <= 0 || r.Rows <= 0 {
		return 0, 0
	}
	cw, ch := r.cell()
	scale := min(1, float64(r.Cols*cw)/float64(w), float64(r.Rows*ch)/float64(h))
	cols, rows = int(float64(w)*scale+0.5)/cw, int(float64(h)*scale+0.5)/ch
	return min(max(cols, 1), r.Cols), min(max(rows, 1), r.Rows)
}

// Draw writes the image at the cursor, its lines below each other, and returns how many rows it
// takes. The cursor stands below it then.
func Draw(w io.Writer, m image.Image, p Protocol, room Room) (rows int, err error) {
	cols, rows := room.Fit(m.Bounds().Dx(), m.Bounds().Dy())
	if rows == 0 {
		return 0, fmt.Errorf("there is no room for a picture")
	}
	cw, ch := room.cell()
	var out bytes.Buffer
	switch p {
	case Kitty:
		err = kitty(&out, scaled(m, cols*cw, rows*ch), cols, rows)
	case ITerm:
		err = iterm(&out, scaled(m, cols*cw, rows*ch), cols, rows)
	case Sixel:
		err = sixels(&out, scaled(m, cols*cw, rows*ch))
	case Auto, Blocks:
		for _, l := range HalfBlocks(m, cols, rows) {
			out.WriteString(l + "\x1b[0m\r\n")
		}
	default:
		err = fmt.Errorf("there is no protocol %q; there are: %s", p, strings.Join(Protocols(), ", "))
	}
	if err == nil {
		_, err = w.Write(out.Bytes())
	}
	return rows, err
}

// Clear takes away what Draw left that is no text.
func Clear(w io.Writer, p Protocol) error {
	if p != Kitty {
		return nil
	}
	_, err := io.WriteString(w, ansi.KittyGraphics(nil, "a=d", "d=I", fmt.Sprintf("i=%d", kittyID), "q=2"))
	return err
}

// scaled is the image in at most w x h pixels.
func scaled(m image.Image, w, h int) *image.RGBA {
	w, h = min(w, m.Bounds().Dx()), min(h, m.Bounds().Dy())
	out := image.NewRGBA(image.Rect(0, 0, max(w, 1), max(h, 1)))
	draw.ApproxBiLinear.Scale(out, out.Rect, m, m.Bounds(), draw.Src, nil)
	return out
}

// kittyID names our image to the terminal, so that it can be taken away.
const kittyID = 7341

// chunk is how many bytes of base64 kitty takes in one command.
const chunk = 4096

func kitty(out *bytes.Buffer, m image.Image, cols, rows int) error {
	data, err := encoded(m)
	if err != nil {
		return err
	}
	options := []string{"a=T", "f=100", fmt.Sprintf("i=%d", kittyID), fmt.Sprintf("c=%d", cols), fmt.Sprintf("r=%d", rows), "q=2"}
	for len(data) > 0 {
		n := min(chunk, len(data))
		more := "m=0"
		if n < len(data) {
			more = "m=1"
		}
		out.WriteString(ansi.KittyGraphics([]byte(data[:n]), append(options, more)...))
		data, options = data[n:], []string{"q=2"}
	}
	out.WriteString("\r\n")
	return nil
}

func iterm(out *bytes.Buffer, m image.Image, cols, rows int) error {
	data, err := encoded(m)
	if err != nil {
		return err
	}
	f := iterm2.File{Inline: true, Width: iterm2.Cells(cols), Height: iterm2.Cells(rows), Content: []byte(data)}
	out.WriteString(ansi.ITerm2(f) + "\r\n")
	return nil
}

func encoded(m image.Image) (string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func sixels(out *bytes.Buffer, m image.Image) error {
	var b bytes.Buffer
	if err := (&sixel.Encoder{}).Encode(&b, m); err != nil {
		return err
	}
	out.WriteString(ansi.SixelGraphics(0, 1, 0, b.Bytes()) + "\r\n")
	return nil
}

// HalfBlocks is the image as rows of coloured text, two pixels a cell.
func HalfBlocks(m image.Image, cols, rows int) []string {
	small := image.NewRGBA(image.Rect(0, 0, cols, 2*rows))
	draw.Draw(small, small.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(small, small.Rect, m, m.Bounds(), draw.Over, nil)
	out := make([]string, rows)
	for y := range rows {
		var b strings.Builder
		var last string
		for x := range cols {
			up, down := small.RGBAAt(x, 2*y), small.RGBAAt(x, 2*y+1)
			pen := fmt.Sprintf("\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm", up.R, up.G, up.B, down.R, down.G, down.B)
			if pen != last {
				b.WriteString(pen)
				last = pen
			}
			b.WriteString("▀")
		}
		out[y] = b.String()
	}
	return out
}
