package ssh

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"

	gossh "golang.org/x/crypto/ssh"

	"hermes/pool/runner/embedded"
)

//go:embed probe.sh
var probeScript string

// place is where the runner lies on the far host.
type place struct {
	dir     string
	program Program
	cached  bool // it is there, and is the right one
	shout   bool // it is there, but nothing on the host can tell its hash
	copied  int64
}

func (p place) runnerPath() string { return path.Join(p.dir, "runner-"+p.program.SHA256[:12]) }

const (
	maxAnswer = 256 << 10 // of the output of a small command: the rest is noise
	maxQuote  = 300       // of it in a message
)

// programs finds the runner for a system.
type programs func(os, arch string) (Program, error)

// probeHost finds out what the host is and whether the runner is there.
func (c *connection) probeHost(ctx context.Context, get programs) (place, error) {
	mark := "hermes-" + hex.EncodeToString(randomHex(8))
	var head strings.Builder
	fmt.Fprintf(&head, "mark=%s\n", mark)
	made := map[string]Program{}
	var missing error
	for _, arch := range []string{"amd64", "arm64"} {
		b, err := get("linux", arch)
		if err != nil {
			missing = err
			continue
		}
		made[arch] = b
		fmt.Fprintf(&head, "%s=%s\n", arch, b.SHA256)
	}
	out, err := c.runSmall(ctx, "exec /bin/sh", strings.NewReader(head.String()+probeScript))
	answers, complete := markedLines(out.stdout, mark)
	if !complete {
		return place{}, noShell(ctx, out, err)
	}
	return placeFromAnswers(answers, made, missing)
}

func randomHex(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// markedLines picks our lines out of the noise. It is complete when the last one came.
func markedLines(out []byte, mark string) (lines []string, complete bool) {
	for _, line := range strings.Split(string(out), "\n") {
		if text, ok := strings.CutPrefix(line, mark+" "); ok {
			if text = strings.TrimRight(text, "\r"); text == "end" {
				return lines, true
			}
			lines = append(lines, text)
		}
	}
	return lines, false
}

// noShell says why the probe did not answer.
func noShell(ctx context.Context, out answer, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("asking what the host is was given up: %w", ctx.Err())
	}
	said := cleanOutput(append(append([]byte(nil), out.stderr...), out.stdout...))
	switch {
	case said == "" && err != nil:
		said = err.Error()
	case said == "":
		said = "nothing"
	}
	return fmt.Errorf("the host lets this user in, but runs no POSIX shell for it, which hermes needs (a nologin account, a forced command, or another system?). It said: %s", said)
}

// placeFromAnswers makes a place of what the host said about itself.
func placeFromAnswers(answers []string, made map[string]Program, missing error) (place, error) {
	var p place
	var bad []string
	system := ""
	for _, line := range answers {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "uname":
			system = cleanOutput([]byte(value))
			p.program = made[goArchitecture(value)]
		case "bad":
			bad = append(bad, cleanOutput([]byte(value)))
		case "dir":
			p.dir = value
		case "have":
			p.cached, p.shout = value != "" && value == p.program.SHA256, value == ""
		}
	}
	switch {
	case goArchitecture(system) == "":
		return p, fmt.Errorf("the host is %q; hermes has runners for %s", system, strings.Join(embedded.Systems, " and "))
	case p.program.SHA256 == "":
		return p, missing
	case p.dir == "":
		return p, fmt.Errorf("there is no place for the runner on the host: %s. Give this user a directory for it by XDG_CACHE_HOME", strings.Join(bad, "; "))
	case !path.IsAbs(p.dir) || path.Clean(p.dir) != p.dir || shellQuote(p.dir) != p.dir:
		return p, fmt.Errorf("the host names %q as the place for the runner: that is no directory hermes uses", cleanOutput([]byte(p.dir)))
	}
	return p, nil
}

// goArchitecture turns the answer of uname -sm into Go's name, "" when there is no runner for it.
func goArchitecture(uname string) string {
	switch strings.TrimSpace(uname) {
	case "Linux x86_64", "Linux amd64":
		return "amd64"
	case "Linux aarch64", "Linux arm64":
		return "arm64"
	}
	return ""
}

// cleanOutput makes what a host said fit for a message.
func cleanOutput(out []byte) string {
	text := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(out), "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if r := []rune(text); len(r) > maxQuote {
		return string(r[:maxQuote]) + "…"
	}
	return text
}

// installRunner copies the runner to its place, unless the right one is there. It never replaces a
// program in place: the copy gets its name when it is complete and has the right hash.
func (c *connection) installRunner(ctx context.Context, p *place, progress func(done int64)) error {
	if p.shout {
		have, err := c.readBack(ctx, p.runnerPath())
		p.cached = err == nil && have == p.program.SHA256
	}
	if p.cached {
		return nil
	}
	part := path.Join(p.dir, ".new-"+hex.EncodeToString(randomHex(6)))
	p.copied = int64(p.program.Size)
	out, err := c.runSmall(ctx, "/bin/sh -c 'umask 077; cat >"+part+" && chmod 700 "+part+" || exit 9; echo; "+
		"(sha256sum "+part+" || shasum -a 256 "+part+" || openssl dgst -sha256 -r "+part+") 2>/dev/null; true'", &told{r: bytes.NewReader(p.program.Data()), progress: progress})
	if err != nil {
		c.removeCopy(part)
		return fmt.Errorf("copying the runner to %s on the host: %w", p.dir, out.withOutput(err))
	}
	sum := sumIn(out.stdout, part)
	if sum == "" { // nothing there can tell
		if sum, err = c.readBack(ctx, part); err != nil {
			c.removeCopy(part)
			return fmt.Errorf("checking the copy of the runner: %w", err)
		}
	}
	if sum != p.program.SHA256 {
		c.removeCopy(part)
		return fmt.Errorf("the copy of the runner on the host is damaged: its hash is %.12s, not %.12s (is %s full? %s)", sum, p.program.SHA256, p.dir, cleanOutput(out.stderr))
	}
	if out, err := c.runSmall(ctx, "mv -f "+part+" "+p.runnerPath(), nil); err != nil {
		c.removeCopy(part)
		return fmt.Errorf("putting the runner in its place on the host: %w", out.withOutput(err))
	}
	return nil
}

// told reports what is read.
type told struct {
	r        io.Reader
	done     int64
	progress func(done int64)
}

func (t *told) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n > 0 {
		t.done += int64(n)
		t.progress(t.done)
	}
	return n, err
}

// sumIn finds the line of a hash program among what rc files print.
func sumIn(out []byte, file string) string {
	for _, line := range strings.Split(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 2 && len(fields[0]) == sha256.Size*2 && strings.TrimPrefix(fields[1], "*") == file {
			return fields[0]
		}
	}
	return ""
}

// readBack fetches a file and returns its hash. What rc files print before it is found by a mark.
func (c *connection) readBack(ctx context.Context, file string) (string, error) {
	mark := hex.EncodeToString(randomHex(8))
	s, err := c.openSession(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	stdout, err := s.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := s.Start("/bin/sh -c 'printf " + mark + " && cat " + file + "'"); err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(stdout, 64<<20))
	if err != nil {
		return "", err
	}
	_, data, found := bytes.Cut(data, []byte(mark))
	if err := s.Wait(); err != nil || !found {
		return "", errors.Join(fmt.Errorf("%s cannot be read back", file), err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// removeCopy removes a copy that is no good, as well as it can.
func (c *connection) removeCopy(file string) {
	ctx, cancel := context.WithTimeout(context.Background(), defaultTimeout)
	defer cancel()
	_, _ = c.runSmall(ctx, "rm -f "+file, nil)
}

// answer is what a small command printed.
type answer struct{ stdout, stderr []byte }

// withOutput is an error with what the host said about it.
func (a answer) withOutput(err error) error {
	if said := cleanOutput(a.stderr); said != "" {
		return fmt.Errorf("%s: %w", said, err)
	}
	return err
}

// runSmall runs a command whose output is short. Output beyond maxAnswer is dropped.
func (c *connection) runSmall(ctx context.Context, command string, stdin io.Reader) (answer, error) {
	s, err := c.openSession(ctx)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = s.Close() }()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	var stdout, stderr head
	s.Stdin, s.Stdout, s.Stderr = stdin, &stdout, &stderr
	err = s.Run(command)
	var status *gossh.ExitError
	if ctx.Err() != nil && !errors.As(err, &status) {
		err = ctx.Err()
	}
	return answer{stdout.data, stderr.data}, err
}

// head keeps the beginning of what is written to it.
type head struct{ data []byte }

func (h *head) Write(p []byte) (int, error) {
	h.data = append(h.data, p[:min(len(p), maxAnswer-len(h.data))]...)
	return len(p), nil
}
