package memory

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Several programs that write at one time lose nothing of each other, and none sees half a file.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	const processes, each = 3, 15
	home := t.TempDir()
	var running []*exec.Cmd
	var outputs [processes]bytes.Buffer
	for i := range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterProcess$")
		cmd.Env = append(os.Environ(), "MEMORY_TEST_HOME="+home, fmt.Sprintf("MEMORY_TEST_NAME=p%d", i))
		cmd.Stdout = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	s := New(home, big)
	for range 50 {
		d, err := s.Load(Notes)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Entries {
			if !strings.HasPrefix(e.Text, "p") || !strings.HasSuffix(e.Text, ".") {
				t.Fatalf("half an entry: %q", e.Text)
			}
		}
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, &outputs[i])
		}
	}
	d, err := s.Load(Notes)
	if err != nil || len(d.Entries) != processes*each {
		t.Errorf("%d entries of %d, %v", len(d.Entries), processes*each, err)
	}
}

func big() Limits { return Limits{1 << 20, 1 << 20} }

// TestWriterProcess is one of the programs.
func TestWriterProcess(t *testing.T) {
	home, name := os.Getenv("MEMORY_TEST_HOME"), os.Getenv("MEMORY_TEST_NAME")
	if home == "" {
		t.Skip("a part of TestTwoProcesses")
	}
	s := New(home, big)
	for i := range 15 {
		if _, err := s.Apply(Notes, []Op{{Add, fmt.Sprintf("%s wrote %d.", name, i), ""}}, name, Rules{}); err != nil {
			t.Fatal(err)
		}
	}
}
