package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"hermes/pool/runner"
	"hermes/pool/runner/wire"
)

// beKilled is the client that the test kills: it starts a program and a stubborn command, and says
// so.
func beKilled(program string) {
	cmd := exec.Command(program, "serve", "-grace", "1s")
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	c, err := wire.Connect(context.Background(), &far{Reader: out, WriteCloser: in, out: out}, wire.Options{})
	if err != nil {
		panic(err)
	}
	_, _ = c.Run(context.Background(), runner.Spec{
		Command: os.Getenv("HERMES_TEST_COMMAND"),
		Sink:    func(_ runner.Stream, data []byte) { fmt.Printf("%d %s", cmd.Process.Pid, data) },
	})
}
