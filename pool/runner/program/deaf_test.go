package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync/atomic"
	"testing"
)

// deaf is a stream whose client can be made to say nothing any more, while the stream stays open.
type deaf struct {
	*far
	mute atomic.Bool
}

func (d *deaf) Write(b []byte) (int, error) {
	if d.mute.Load() {
		return len(b), nil
	}
	return d.far.Write(b)
}

func fileHash(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
