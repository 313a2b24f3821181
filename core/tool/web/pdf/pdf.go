// Package pdf reads the text of PDF documents in a process of its own. A hostile document can make
// any parser run for ever or ask for all memory, and a goroutine cannot be stopped: a process can.
//
// The contract: main calls Child before everything else, and ends when it reports true. Text then
// starts the same program again with an empty environment, which limits its own time and memory
// before it looks at a byte, and reads what comes back. Text never panics, ends with its context,
// and leaves no process behind.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// childArg is the first argument of the process that reads; the second is its seconds of processor
// time.
const childArg = "__pdf_text"

// The limits of one document.
const (
	wall    = 20 * time.Second
	memory  = 512 << 20 // bytes that can be written to
	maxText = 8 << 20   // bytes of text that come back
)

var cpuSeconds uint64 = 6 // tests are in a hurry

// hooked is set when main has called Child, so that Text knows what its own program does with
// childArg.
var hooked atomic.Bool

// Child does the work when this process was started by Text, and reports true: then main ends.
// Otherwise it does nothing.
func Child() bool {
	hooked.Store(true)
	if len(os.Args) != 3 || os.Args[1] != childArg {
		return false
	}
	seconds, err := strconv.ParseUint(os.Args[2], 10, 16)
	if err == nil {
		err = limitProcess(seconds)
	}
	if err != nil {
		exitWithError(err)
	}
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		exitWithError(err)
	}
	text, err := extractText(data)
	if err != nil {
		exitWithError(err)
	}
	if len(text) > maxText {
		text = text[:maxText]
	}
	if _, err := io.WriteString(os.Stdout, text); err != nil {
		os.Exit(1)
	}
	return true
}

func exitWithError(err error) {
	fmt.Fprint(os.Stderr, err)
	os.Exit(3)
}

// limitProcess takes from this process what a parser has no need of.
func limitProcess(cpu uint64) error {
	debug.SetMemoryLimit(memory / 2)
	for _, l := range []struct {
		resource int
		value    uint64
	}{{unix.RLIMIT_CPU, cpu}, {unix.RLIMIT_DATA, memory}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_CORE, 0}, {unix.RLIMIT_NOFILE, 16}} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("the limits could not be set: %w", err)
		}
	}
	return nil
}

// Text returns the text of a document, line by line, pages apart.
func Text(ctx context.Context, data []byte) (string, error) {
	if !hooked.Load() {
		return "", errors.New("this program was not built to read PDF (pdf.Child is not called)")
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, wall)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, childArg, strconv.FormatUint(cpuSeconds, 10))
	cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=2"}
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(data)
	cmd.WaitDelay = time.Second
	out, errs := &bounded{max: maxText + 1}, &bounded{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errs
	err = cmd.Run()
	if err == nil {
		return strings.ToValidUTF8(out.String(), "\ufffd"), nil
	}
	return "", explainFailure(ctx, err, errs.String())
}

func explainFailure(ctx context.Context, err error, said string) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it took longer than %s", wall)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		return errors.New(firstLine(said))
	case errors.As(err, &exit):
		return fmt.Errorf("reading it took more than %d seconds of processor time or %d MB of memory (%w)", cpuSeconds, memory>>20, err)
	default:
		return err
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 200)], "\ufffd")
}

// bounded keeps the first max bytes and swallows the rest.
type bounded struct {
	bytes.Buffer
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:max(0, min(len(p), b.max-b.Len()))])
	return len(p), nil
}
