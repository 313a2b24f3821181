package checkpoint

import (
	"fmt"
	"testing"
)

// BenchmarkCommand is what a command costs in a project of 5,000 files: the scan before it and the
// one at the end of the turn. The first turn, which reads everything, is outside.
func BenchmarkCommand(b *testing.B) {
	p := newProject(b, Options{Snapshots: 1 << 20})
	p.git()
	for i := range 5000 {
		p.write(fmt.Sprintf("d%d/e%d/f%d.go", i%10, i%70, i), fmt.Sprintf("package p%d\n\nfunc F() int { return %d }\n", i, i))
	}
	once := func(n int) {
		turn := p.begin()
		p.command(turn, func() { p.write("README", fmt.Sprint(n)) })
		p.end(turn)
	}
	once(-1)
	b.ResetTimer()
	for n := range b.N {
		once(n)
	}
}

// BenchmarkFirstCommand is the first command ever in such a project.
func BenchmarkFirstCommand(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		p := newProject(b, Options{})
		p.git()
		for i := range 5000 {
			p.write(fmt.Sprintf("d%d/e%d/f%d.go", i%10, i%70, i), fmt.Sprintf("package p%d\n\nfunc F() int { return %d }\n", i, i))
		}
		turn := p.begin()
		b.StartTimer()
		p.command(turn, func() {})
		b.StopTimer()
		p.end(turn)
		b.StartTimer()
	}
}

// BenchmarkFile is what one edit of a file costs.
func BenchmarkFile(b *testing.B) {
	p := newProject(b, Options{Snapshots: 1 << 20})
	for n := range b.N {
		turn := p.begin()
		p.file(turn, func() { p.write("README", fmt.Sprint(n)) }, "README")
		p.end(turn)
	}
}
