// Package content turns what comes from outside (files, bytes of tools and servers) into parts of
// messages. Images are made fit for models here, once, on their way in: turned as their camera
// says, without metadata, small. Bytes decide what something is, names do not. Nothing in here
// fails with a panic, and none of it needs more memory than the limits allow.
package content

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoder
	"image/jpeg"
	"image/png"
	"sync"

	_ "golang.org/x/image/bmp" // decoder
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decoder

	"hermes/core/chat"
)

// Limits of images.
const (
	MaxInput  = 32 << 20   // bytes of what is read
	maxPixels = 50_000_000 // of what is decoded
	longSide  = 1568       // of what is kept, in pixels
	maxBytes  = 1_000_000  // of what is kept
)

// decoding lets one image at a time be in memory unpacked.
var decoding sync.Mutex

// IsImage reports whether data begins like an image of a format that can be read.
func IsImage(data []byte) bool {
	_, _, err := image.DecodeConfig(bytes.NewReader(data))
	return err == nil
}

// Stored is the part that stored data is, or what keeps the data from being sent to a model as an
// image. It decodes the head only.
func Stored(name, blob string, data []byte) (chat.Part, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	p := chat.Part{
		Kind: chat.PartImage, Name: name, Blob: blob, Size: int64(len(data)), Media: "image/" + format, Width: c.Width, Height: c.Height,
	}
	switch {
	case err != nil:
		return p, errors.New("it is no image")
	case format != "png" && format != "jpeg", c.Width > longSide, c.Height > longSide, len(data) > maxBytes:
		return p, errors.New("it was not made fit for models")
	}
	return p, nil
}

// Image makes an image of any known format fit for models.
func Image(name string, data []byte) (p chat.Part, err error) {
	defer func() {
		if r := recover(); r != nil { // a decoder, on bytes of strangers
			p, err = chat.Part{}, fmt.Errorf("it cannot be decoded: %v", r)
		}
	}()
	if len(data) > MaxInput {
		return p, fmt.Errorf("it has %d MB; images of up to %d MB can be read", len(data)>>20, MaxInput>>20)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return p, errors.New("it is no image in a format that can be read (PNG, JPEG, GIF, WebP, BMP)")
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return p, fmt.Errorf("it has %dx%d pixels; images of up to %d megapixels can be read", c.Width, c.Height, maxPixels/1_000_000)
	}
	decoding.Lock()
	defer decoding.Unlock()
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return p, fmt.Errorf("the %s cannot be decoded: %w", format, err)
	}
	small := shrink(toRGBA(m), longSide)
	if format == "jpeg" {
		small = undoOrientation(small, orientation(data))
	}
	p = chat.Part{Kind: chat.PartImage, Name: name}
	p.Data, p.Media, small, err = encodeSmallest(small)
	p.Width, p.Height, p.Size = small.Rect.Dx(), small.Rect.Dy(), int64(len(p.Data))
	return p, err
}

// toRGBA copies m into the one form that the rest works on.
func toRGBA(m image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out
}

// shrink scales m until no side is longer than side: by halves first, which keeps thin lines, then
// the rest.
func shrink(m *image.RGBA, side int) *image.RGBA {
	for max(m.Rect.Dx(), m.Rect.Dy()) >= 2*side {
		m = halve(m)
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	long := max(w, h)
	if long <= side {
		return m
	}
	out := image.NewRGBA(image.Rect(0, 0, max(1, w*side/long), max(1, h*side/long)))
	draw.ApproxBiLinear.Scale(out, out.Rect, m, m.Rect, draw.Src, nil)
	return out
}

// halve makes one pixel of every four.
func halve(m *image.RGBA) *image.RGBA {
	w, h := max(1, m.Rect.Dx()/2), max(1, m.Rect.Dy()/2)
	right, below := min(4, m.Stride-4), m.Stride // offsets of the neighbours; an image of one row or column has none
	if m.Rect.Dy() < 2 {
		below = 0
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		from, to := m.Pix[2*y*below:], out.Pix[y*out.Stride:]
		for x := range w {
			i := 2 * x * right
			for c := range 4 {
				sum := int(from[i+c]) + int(from[i+right+c]) + int(from[i+below+c]) + int(from[i+below+right+c])
				to[4*x+c] = uint8((sum + 2) / 4)
			}
		}
	}
	return out
}

// undoOrientation undoes what an EXIF orientation (1 to 8) says.
func undoOrientation(m *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation > 8 {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	if orientation > 4 {
		w, h = h, w
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sx, sy := x, y
			switch orientation {
			case 2:
				sx = w - 1 - x
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sy = h - 1 - y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, w-1-x
			case 7:
				sx, sy = h-1-y, w-1-x
			case 8:
				sx, sy = h-1-y, x
			}
			out.SetRGBA(x, y, m.RGBAAt(sx, sy))
		}
	}
	return out
}

// encodeSmallest writes m as PNG when it has alpha or looks drawn, else as JPEG; smaller and
// smaller until it fits. It returns what it wrote.
func encodeSmallest(m *image.RGBA) (data []byte, media string, written *image.RGBA, err error) {
	var b bytes.Buffer
	if !m.Opaque() || looksDrawn(m) {
		if err := png.Encode(&b, m); err != nil {
			return nil, "", m, err
		}
		if b.Len() <= maxBytes {
			return b.Bytes(), "image/png", m, nil
		}
		m = onWhite(m)
	}
	for {
		for _, quality := range []int{85, 70, 50} {
			b.Reset()
			if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
				return nil, "", m, err
			}
			if b.Len() <= maxBytes {
				return b.Bytes(), "image/jpeg", m, nil
			}
		}
		m = halve(m)
	}
}

// looksDrawn reports whether m looks like a screenshot, a chart or text: much of it is of one
// colour with what is beside it.
func looksDrawn(m *image.RGBA) bool {
	same, all := 0, 0
	for y := 0; y < m.Rect.Dy(); y += 4 {
		row := m.Pix[y*m.Stride : y*m.Stride+4*m.Rect.Dx()]
		for i := 4; i < len(row); i += 4 {
			all++
			if row[i] == row[i-4] && row[i+1] == row[i-3] && row[i+2] == row[i-2] {
				same++
			}
		}
	}
	return same*2 >= all
}

func onWhite(m *image.RGBA) *image.RGBA {
	out := image.NewRGBA(m.Rect)
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, m, m.Rect.Min, draw.Over)
	return out
}
