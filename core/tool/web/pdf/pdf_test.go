package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hermes/core/testskip"
	"hermes/core/testwait"
)

// TestMain is also the process that reads.
func TestMain(m *testing.M) {
	if Child() {
		return
	}
	cpuSeconds = 2
	goleak.VerifyTestMain(m)
}

// document writes a PDF of numbered objects, with a correct cross-reference table.
func document(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func stream(dict, data string) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(data), dict, data)
}

const (
	catalog = "<< /Type /Catalog /Pages 2 0 R >>"
	onePage = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	page    = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
)

// helvetica has every width at half an em, so that places can be computed.
func helvetica() string {
	return "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [" +
		strings.Repeat("500 ", 95) + "] >>"
}

func flate(data []byte) string {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(data)
	w.Close()
	return z.String()
}

func TestWordsAndLines(t *testing.T) {
	t.Parallel()
	content := "BT /F1 12 Tf 72 720 Td (Annual report) Tj 0 -40 Td (The year was) Tj 0 -14 Td (good \\(mostly\\).) Tj ET\n" +
		"BT /F1 12 Tf 1 0 0 1 72 600 Tm (left) Tj 1 0 0 1 300 600 Tm (right) Tj ET"
	for name, body := range map[string]string{"plain": stream("", content), "flate": stream("/Filter /FlateDecode", flate([]byte(content)))} {
		got, err := Text(context.Background(), document(catalog, onePage, page, body, helvetica()))
		want := "Annual report\n\nThe year was\ngood (mostly).\n\nleft right"
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// Chinese as word processors write it: two bytes a glyph, and a table that says what they mean.
func TestCompositeFont(t *testing.T) {
	t.Parallel()
	cmap := "/CIDInit /ProcSet findresource begin\nbegincmap\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n" +
		"3 beginbfchar\n<0001> <56FE>\n<0002> <4E66>\n<0003> <9986>\nendbfchar\nendcmap\nend"
	got, err := Text(context.Background(), document(catalog, onePage, page,
		stream("", "BT /F1 12 Tf 72 720 Td <000100020003> Tj ET"),
		"<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [7 0 R] >>",
		stream("", cmap),
		"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Song /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 >>"))
	if err != nil || strings.Join(strings.Fields(got), "") != "图书馆" {
		t.Errorf("%q, %v", got, err)
	}
}

// Hostile documents end with an error or with text, in bounded time, and leave this process as it
// was.
func TestHostileDocuments(t *testing.T) {
	testskip.WithoutRace(t, "it computes")
	t.Parallel()
	bomb := flate(make([]byte, 24<<20))
	for range 2 {
		bomb = flate([]byte(bomb))
	}
	bad := map[string][]byte{
		"empty":          {},
		"no document":    []byte("%PDF-1.4\nnothing here"),
		"cut":            document(catalog, onePage, page, stream("", "BT ET"), helvetica())[:300],
		"page tree loop": document(catalog, "<< /Type /Pages /Kids [2 0 R] /Count 1000000000 >>"),
		"parent loop":    document(catalog, onePage, "<< /Type /Page /Parent 3 0 R /Contents 4 0 R >>", stream("", "BT /F1 12 Tf (x) Tj ET"), helvetica()),
		"self":           document("1 0 R"),
		"deep arrays":    document(catalog, onePage, page, stream("", strings.Repeat("[", 2_000_000)), helvetica()),
		"flate bomb":     document(catalog, onePage, page, stream("/Filter [/FlateDecode /FlateDecode /FlateDecode]", bomb), helvetica()),
		"endless text":   document(catalog, onePage, page, stream("", "BT /F1 12 Tf "+strings.Repeat("(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ", 200_000)+" ET"), helvetica()),
		"huge length":    document(catalog, onePage, page, "<< /Length 99999999999 >>\nstream\nx\nendstream", helvetica()),
		"encrypted":      bytes.Replace(document(catalog, onePage, page, stream("", "BT ET"), helvetica()), []byte("/Root"), []byte("/Encrypt << /Filter /Standard /V 1 /R 2 /O (x) /U (y) /P -4 >> /ID [(a)(b)] /Root"), 1),
	}
	for name, data := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			text, err := Text(context.Background(), data)
			if took := time.Since(begin); took > testwait.Within(wall+30*time.Second) {
				t.Errorf("took %s", took)
			}
			if err == nil && len(text) > maxText {
				t.Errorf("%d bytes of text", len(text))
			}
			t.Logf("%d bytes of text, %v, after %s", len(text), err, time.Since(begin).Round(time.Millisecond))
		})
	}
}

func TestCancelEndsTheReader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Text(ctx, document(catalog)); err == nil {
		t.Error("read although cancelled")
	}
}

func FuzzExtract(f *testing.F) {
	f.Add(document(catalog, onePage, page, stream("", "BT /F1 12 Tf 72 720 Td (Hello) Tj ET"), helvetica()))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Text(context.Background(), data[:min(len(data), 2000)])
	})
}
