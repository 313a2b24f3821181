package markdown

import (
	"testing"

	"github.com/charmbracelet/glamour"
	"github.com/charmbracelet/glamour/styles"
	"github.com/muesli/termenv"
)

// BenchmarkGlamour is glamour on its own, with its own layout; compare it with BenchmarkRender.
func BenchmarkGlamour(b *testing.B) {
	r, err := glamour.NewTermRenderer(glamour.WithStyles(styles.DarkStyleConfig), glamour.WithWordWrap(80), glamour.WithColorProfile(termenv.TrueColor))
	if err != nil {
		b.Fatal(err)
	}
	src := sample(200_000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Render(src); err != nil {
			b.Fatal(err)
		}
	}
}
