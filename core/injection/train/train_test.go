package main

import (
	"os"
	"testing"
)

// TestPackedModel keeps what a pack holds, and how large it may be.
func TestPackedModel(t *testing.T) {
	b, err := os.ReadFile("../score/model.bin")
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 300<<10 {
		t.Errorf("the model has %d bytes", len(b))
	}
}
