package content

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"hermes/core/chat"
)

// drawing is a picture of flat colours: red above, blue below, with a green corner at the upper
// left.
func drawing(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{R: 255, A: 255}
			switch {
			case y >= h/2:
				c = color.RGBA{B: 255, A: 255}
			case x < w/4 && y < h/4:
				c = color.RGBA{G: 255, A: 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func noise(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = uint8(r.Uint32())
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return b.Bytes()
}

func asJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// withOrientation puts an EXIF header into a JPEG.
func withOrientation(data []byte, o int, order binary.AppendByteOrder, mark string) []byte {
	tiff := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, tag := range []int{0x0100, 0x0112} {
		tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, uint16(tag)), 3), 1)
		tiff = order.AppendUint16(order.AppendUint16(tiff, uint16(o)), 0)
	}
	body := append([]byte("Exif\x00\x00"), append(tiff, "secret place"...)...)
	out := append([]byte{0xFF, 0xD8, 0xFF, 0xE1}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))...)
	return append(append(out, body...), data[2:]...)
}

func decoded(t testing.TB, p chat.Part) image.Image {
	t.Helper()
	m, format, err := image.Decode(bytes.NewReader(p.Data))
	must(t, err)
	if m.Bounds().Dx() != p.Width || m.Bounds().Dy() != p.Height || p.Media != "image/"+format || p.Size != int64(len(p.Data)) || p.Kind != chat.PartImage {
		t.Errorf("%s says %+v of a %s of %v", p.Name, p.Describe(), format, m.Bounds())
	}
	if s, err := Stored(p.Name, "", p.Data); err != nil || s.Describe() != p.Describe() {
		t.Errorf("%s: %v", s.Describe(), err)
	}
	return m
}

func near(c color.Color, r, g, b uint32) bool {
	cr, cg, cb, _ := c.RGBA()
	d := func(x, y uint32) bool { return max(x>>8, y)-min(x>>8, y) < 40 }
	return d(cr, r) && d(cg, g) && d(cb, b)
}

func TestImagesAreMadeFit(t *testing.T) {
	var g, b bytes.Buffer
	must(t, gif.Encode(&g, drawing(40, 30), nil))
	must(t, bmp.Encode(&b, drawing(40, 30)))
	clear := drawing(100, 100)
	clear.Pix[3] = 7
	for _, c := range []struct {
		name  string
		data  []byte
		media string
		w, h  int
	}{
		{"small png", asPNG(t, drawing(40, 30)), "image/png", 40, 30},
		{"large png", asPNG(t, drawing(3840, 2160)), "image/png", 1568, 882},
		{"thin", asPNG(t, drawing(9000, 1)), "image/png", 1568, 1},
		{"tall", asPNG(t, drawing(1, 9000)), "image/png", 1, 1568},
		{"photo", asJPEG(t, noise(640, 480)), "image/jpeg", 640, 480},
		{"noisy png", asPNG(t, noise(1000, 1000)), "image/jpeg", 1000, 1000},
		{"alpha", asPNG(t, clear), "image/png", 100, 100},
		{"gif", g.Bytes(), "image/png", 40, 30},
		{"bmp", b.Bytes(), "image/png", 40, 30},
	} {
		p, err := From(c.name, c.data)
		must(t, err)
		m := decoded(t, p)
		if p.Media != c.media || p.Width != c.w || p.Height != c.h || len(p.Data) > maxBytes {
			t.Errorf("%s became %s, want %s %dx%d", c.name, p.Describe(), c.media, c.w, c.h)
		}
		if strings.HasSuffix(c.name, "png") && c.name != "noisy png" && !near(m.At(0, 0), 0, 255, 0) {
			t.Errorf("%s: the corner is %v", c.name, m.At(0, 0))
		}
	}
}

// What every orientation shows upright is the same picture, and nothing of the metadata is left.
func TestCameraOrientation(t *testing.T) {
	upright := drawing(160, 80)
	inverse := []int{0, 1, 2, 3, 4, 5, 8, 7, 6} // what undoes an orientation
	for o := 1; o <= 8; o++ {
		held := asJPEG(t, undoOrientation(upright, inverse[o]))
		for mark, order := range map[string]binary.AppendByteOrder{"II": binary.LittleEndian, "MM": binary.BigEndian} {
			p, err := Image("x", withOrientation(held, o, order, mark))
			must(t, err)
			m := decoded(t, p)
			if p.Width != 160 || !near(m.At(5, 5), 0, 255, 0) || !near(m.At(100, 5), 255, 0, 0) || !near(m.At(80, 70), 0, 0, 255) {
				t.Errorf("orientation %d %s: %dx%d %v %v %v", o, mark, p.Width, p.Height, m.At(5, 5), m.At(100, 5), m.At(80, 70))
			}
			if bytes.Contains(p.Data, []byte("secret place")) {
				t.Error("metadata is left")
			}
		}
	}
}

// bomb is a small PNG that says it is large.
func bomb(w, h uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), w), h)
	head = append(head, 8, 2, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	return binary.BigEndian.AppendUint32(append(out, head...), crc32.ChecksumIEEE(head))
}

func TestWhatCannotBeAnImage(t *testing.T) {
	whole := asPNG(t, drawing(300, 300))
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"bomb":  {bomb(12_000, 12_000), "megapixels"},
		"wide":  {bomb(1<<31-1, 1<<31-1), "it"},
		"cut":   {whole[:len(whole)/2], "cannot be decoded"},
		"fat":   {append(whole, make([]byte, MaxInput)...), "32 MB"},
		"heic":  {append([]byte("\x00\x00\x01\x00"), make([]byte, 64)...), "cannot be decoded"}, // an icon
		"long":  {bytes.Repeat([]byte("word "), 100_000), "read_file"},
		"large": {bytes.Repeat([]byte{0, 1}, 6<<20), "10 MB"},
	} {
		if p, err := From(name, c.data); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, p.Describe(), err)
		}
	}
	if p, err := From("page.png", []byte("<html>no picture</html>")); err != nil || p.Kind != chat.PartFile || p.Text == "" {
		t.Errorf("a page called png: %+v, %v", p, err)
	}
	if p, err := From("a.pdf", []byte("%PDF-1.7\n\x00\xff")); err != nil || p.Media != "application/pdf" || p.Data == nil {
		t.Errorf("a document: %+v, %v", p, err)
	}
	for _, bad := range [][]byte{nil, []byte("x"), asPNG(t, drawing(2000, 10))} {
		if _, err := Stored("x", "", bad); err == nil {
			t.Errorf("%d bytes pass", len(bad))
		}
	}
}

func TestMentioned(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a b"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "a b", "x.PNG"), asPNG(t, drawing(4, 4)), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "y.png"), asPNG(t, drawing(8, 8)), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "bad.png"), asPNG(t, drawing(8, 8))[:50], 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "dir.png"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=1"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a b", "n.txt"), []byte("note"), 0o600))
	got := Mentioned(dir, `look at @y.png, @"a b/x.PNG" and @bad.png, not at @gone.png, me@y.png or @main.go; @dir.png`)
	var names []string
	for _, p := range got {
		names = append(names, string(p.Kind)+" "+p.Name+" "+p.Path)
	}
	want := []string{"image y.png " + filepath.Join(dir, "y.png"), "image x.PNG " + filepath.Join(dir, "a b", "x.PNG"), "file bad.png ", "file dir.png "}
	if strings.Join(names, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", names, want)
	}
	if len(got) == 4 && !strings.Contains(got[2].Text, "could not be attached") {
		t.Errorf("says %q", got[2].Text)
	}
}

func TestDropped(t *testing.T) {
	for paste, want := range map[string]string{
		"/home/u/a.png ": "/home/u/a.png", `/home/u/my\ pic.jpg`: "/home/u/my pic.jpg", `'/home/u/my pic.gif'`: "/home/u/my pic.gif",
		"file:///home/u/a%20b.webp\n": "/home/u/a b.webp", "~/a.bmp": "~/a.bmp",
		"a.png": "", "/home/u/a.txt": "", "/a.png\n/b.png": "", "see /home/u/a.png": "", "https://x/y.png": "", "": "",
	} {
		got, ok := Dropped(paste)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v", paste, got, ok)
		}
	}
}

func FuzzImage(f *testing.F) {
	f.Add(asPNG(f, drawing(30, 20)))
	f.Add(withOrientation(asJPEG(f, drawing(30, 20)), 6, binary.LittleEndian, "II"))
	f.Add(bomb(100, 100))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Image("x", data); err == nil {
			decoded(t, p)
		}
		_ = orientation(data)
	})
}

func BenchmarkImage4K(b *testing.B) {
	data := asPNG(b, drawing(3840, 2160))
	for b.Loop() {
		_, err := Image("x", data)
		must(b, err)
	}
}
