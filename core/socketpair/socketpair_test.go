package socketpair

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// What one side writes the other one reads, in a child too, and a blocked reader can be closed.
func TestMake(t *testing.T) {
	ours, theirs, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	child := exec.Command("sh", "-c", "echo hello >&3")
	child.ExtraFiles = []*os.File{theirs}
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	theirs.Close()
	if got, err := io.ReadAll(ours); err != nil || string(got) != "hello\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// A child that was not given the sockets does not have them.
func TestNoOtherChildInherits(t *testing.T) {
	ours, theirs, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	idle := exec.Command("cat")
	in, err := idle.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := idle.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if got, err := io.ReadAll(ours); err != nil || len(got) > 0 { // ends: nobody holds the other end
		t.Errorf("%q, %v", got, err)
	}
	in.Close()
	if err := idle.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCloseEndsARead(t *testing.T) {
	ours, theirs, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ended := make(chan error)
	go func() {
		_, err := ours.Read(make([]byte, 1))
		ended <- err
	}()
	ours.Close()
	if err := <-ended; err == nil {
		t.Error("the read went on")
	}
}
