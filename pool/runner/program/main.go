// Program hermes-runner is the far side of pool/runner/wire: what a container runs as its main
// process, and what ssh starts on a far host.
//
// hermes-runner serve [-grace 10s] [-socket NAME]   the protocol on standard input and output,
// until nobody is there for the grace
// hermes-runner join NAME                           the same over the socket of a `serve` in this
// container, for a second Hermes
//
//	hermes-runner hash                                the SHA-256 of this program
//
// It needs nothing from where it runs: no shell, no place to write, no /tmp, no libc.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"hermes/core/crash"
	"hermes/pool/runner/wire"
)

const usage = `usage: hermes-runner serve [-grace DURATION] [-socket NAME]
       hermes-runner join NAME
       hermes-runner hash | --version`

func main() {
	os.Exit(runGuarded())
}

func runGuarded() int {
	defer crash.Guard("main")
	if err := runMode(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hermes-runner:", err)
		return 1
	}
	return 0
}

func runMode(args []string) error {
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	switch {
	case mode == "serve":
		o, err := parseFlags(args[1:])
		if err != nil {
			return err
		}
		return serveRunner(o)
	case mode == "join" && len(args) == 2:
		return joinServer(args[1])
	case mode == "hash" && len(args) == 1:
		fmt.Println(hashFile())
		return nil
	case mode == "--version" && len(args) == 1:
		fmt.Printf("hermes-runner, protocol %d\n", wire.Version)
		return nil
	}
	return errors.New(usage)
}

type options struct {
	grace  time.Duration
	socket string
}

// parseFlags reads the flags of serve. The flag package would make the program larger by a sixth.
func parseFlags(args []string) (o options, err error) {
	for len(args) > 1 {
		switch args[0] {
		case "-grace":
			o.grace, err = time.ParseDuration(args[1])
			if err == nil && o.grace <= 0 {
				err = errors.New("the grace must be more than nothing")
			}
		case "-socket":
			o.socket = args[1]
		default:
			err = fmt.Errorf("unknown flag %s\n%s", args[0], usage)
		}
		if err != nil {
			return o, err
		}
		args = args[2:]
	}
	if len(args) > 0 {
		return o, fmt.Errorf("%s has no value, or is none\n%s", args[0], usage)
	}
	return o, nil
}
