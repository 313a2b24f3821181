package wire

import (
	"context"
	"os"
	"testing"

	"hermes/pool/runner"
)

// What a call costs over the wire, beside the same in process. Here both ends share a process;
// pool/runner/program has the same against the program.
func BenchmarkCall(b *testing.B) {
	spec := runner.Spec{Command: "true", Env: runner.Environ(os.Environ(), false), Home: b.TempDir()}
	b.Run("local", func(b *testing.B) {
		r := runner.New(runner.Options{})
		defer r.Close(context.Background())
		for b.Loop() {
			if _, err := r.Run(context.Background(), spec); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("wire", func(b *testing.B) {
		c, _ := pair(b, Options{}, Place{})
		for b.Loop() {
			if _, err := c.Run(context.Background(), spec); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOutput(b *testing.B) {
	const size = 64 << 20
	spec := runner.Spec{Command: "head -c 67108864 /dev/zero", Env: runner.Environ(os.Environ(), false), Home: b.TempDir()}
	b.Run("local", func(b *testing.B) {
		r := runner.New(runner.Options{})
		defer r.Close(context.Background())
		b.SetBytes(size)
		for b.Loop() {
			if res, err := r.Run(context.Background(), spec); err != nil || res.Total != size {
				b.Fatal(res.Total, err)
			}
		}
	})
	b.Run("wire", func(b *testing.B) {
		c, _ := pair(b, Options{}, Place{})
		b.SetBytes(size)
		for b.Loop() {
			if res, err := c.Run(context.Background(), spec); err != nil || res.Total != size {
				b.Fatal(res.Total, err)
			}
		}
	})
}
