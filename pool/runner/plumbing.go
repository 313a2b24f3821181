package runner

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"hermes/core/confine"
	"hermes/core/socketpair"
)

// plumbing is the pipes or the terminal of one command.
type plumbing struct {
	theirs  []*os.File // the command's descriptors 0, 1, ...; closed here once it has started
	outs    []outlet
	dir     *os.File // the directory arrives here; nil without a shell
	info    *os.File // what bubblewrap says about the namespace; nil without
	channel *os.File // our end of the extra socket; nil without
	tty     *os.File // our side of the terminal, also in outs

	mu    sync.Mutex
	stdin *os.File // nil when closed, or never open; the same as tty when there is one
}

func newPlumbing(s *Spec) (p *plumbing, err error) {
	p = &plumbing{}
	if s.Size != nil {
		err = p.openTerminal(*s.Size)
	} else {
		err = p.openPipes(s)
	}
	if err == nil && s.Channel {
		err = p.addSocket()
	}
	if err == nil && s.Command != "" {
		err = p.addReportPipe()
	}
	if err != nil {
		p.closeTheirs()
		p.closeOurs()
		return nil, fmt.Errorf("no pipes or terminal for it: %w", err)
	}
	return p, nil
}

func (p *plumbing) openTerminal(size Size) error {
	ours, theirs, err := pty.Open()
	if err != nil {
		return err
	}
	p.theirs = []*os.File{theirs, theirs, theirs}
	ours, err = makePollable(ours)
	p.tty, p.stdin = ours, ours
	p.outs = []outlet{{ours, Terminal}}
	if err != nil {
		return err
	}
	return p.resize(size)
}

func (p *plumbing) openPipes(s *Spec) error {
	in, err := p.openInput(s)
	if err != nil {
		return err
	}
	p.theirs = append(p.theirs, in)
	for _, stream := range []Stream{Stdout, Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		p.outs = append(p.outs, outlet{r, stream})
		p.theirs = append(p.theirs, w)
		if s.Merge {
			p.theirs = append(p.theirs, w)
			break
		}
	}
	return nil
}

func (p *plumbing) openInput(s *Spec) (*os.File, error) {
	if s.Stdin == nil && !s.Live {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	p.stdin = w
	return r, err
}

// addSocket adds the socket as descriptor 3. The end that is ours can be closed while something
// reads it.
func (p *plumbing) addSocket() error {
	ours, theirs, err := socketpair.Make()
	if err != nil {
		return err
	}
	p.theirs, p.channel = append(p.theirs, theirs), ours
	return nil
}

// addReportPipe adds the pipe for the directory, on a descriptor of which the command knows
// nothing.
func (p *plumbing) addReportPipe() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.dir = r
	p.theirs = append(p.theirs, make([]*os.File, dirFD+1-len(p.theirs))...)
	p.theirs[dirFD] = w
	return nil
}

func (p *plumbing) makeLaunch(s *Spec, tag, dir string) (launch, error) {
	l := launch{argv: s.Argv, env: withTag(s.Env, tag, dir), dir: dir, tty: p.tty != nil, confine: s.Confine}
	var err error
	if s.Command != "" {
		l.path = s.Shell
		if l.path == "" {
			l.path = defaultShell
		}
		var script *os.File
		if l.argv, script, err = shellArgs(l.path, s.Command, tag); err != nil {
			return l, err
		}
		if script != nil {
			p.theirs = append(p.theirs, script)
		}
	} else {
		l.path = s.Argv[0]
	}
	if l.path, err = lookPath(l.path, dir, s.Env); err == nil {
		err = p.wrapInSandbox(&l)
	}
	l.files = p.theirs
	return l, err
}

// wrapInSandbox has bubblewrap start the command, where that is what keeps it in.
func (p *plumbing) wrapInSandbox(l *launch) error {
	if l.confine == nil || l.confine.Engine != confine.Bubblewrap {
		return nil
	}
	w, filter, err := l.confine.Wrap(confine.Command{Path: l.path, Argv: l.argv, Dir: l.dir, TTY: l.tty})
	if err != nil {
		return noSandbox(l.confine.Mode, err)
	}
	p.theirs = append(p.theirs, make([]*os.File, confine.InfoFD+1-len(p.theirs))...)
	p.theirs[confine.FilterFD] = filter
	if p.info, p.theirs[confine.InfoFD], err = os.Pipe(); err != nil {
		return err
	}
	l.path, l.argv, l.confine, l.wrapped = w.Path, w.Argv, nil, true
	return nil
}

var errNoInput = errors.New("its standard input is closed")

// sendInput writes data to the command's input; eof closes it afterwards (a terminal gets ctrl-d,
// at the start of a line).
func (p *plumbing) sendInput(data []byte, eof bool) error {
	p.mu.Lock()
	f := p.stdin
	p.mu.Unlock()
	if f == nil {
		return errNoInput
	}
	if eof && p.tty != nil {
		data = append(append([]byte(nil), data...), 4)
	}
	_, err := f.Write(data)
	if eof && p.tty == nil {
		p.closeStdin()
	}
	return err
}

// sendWithin is send for a command that may not read: it gives up after d.
func (p *plumbing) sendWithin(d time.Duration, data []byte, eof bool) error {
	p.mu.Lock()
	if p.stdin != nil {
		_ = p.stdin.SetWriteDeadline(time.Now().Add(d))
	}
	p.mu.Unlock()
	err := p.sendInput(data, eof)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it did not read its input within %v: only a part was written", d)
	}
	return err
}

func (p *plumbing) resize(s Size) error {
	if p.tty == nil {
		return errors.New("it has no terminal")
	}
	conn, err := p.tty.SyscallConn() // not Fd, which would make it block
	if err != nil {
		return err
	}
	gone := conn.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	})
	return errors.Join(gone, err)
}

// finalDir returns where the shell said it ended, or "".
func (p *plumbing) finalDir() string {
	if p.dir == nil {
		return ""
	}
	return readReport(p.dir)
}

func (p *plumbing) closeTheirs() {
	for i, f := range p.theirs {
		if f != nil && (i == 0 || f != p.theirs[i-1]) {
			_ = f.Close()
		}
	}
	p.theirs = nil
}

// closeOurs is for a command that never started: after that the pumps own the outlets.
func (p *plumbing) closeOurs() {
	for _, o := range p.outs {
		_ = o.file.Close()
	}
	p.closeStdin()
	p.closeDir()
	if p.channel != nil {
		_ = p.channel.Close()
	}
}

func (p *plumbing) closeStdin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stdin != nil && p.stdin != p.tty {
		_ = p.stdin.Close()
	}
	p.stdin = nil
}

func (p *plumbing) closeDir() {
	for _, f := range []*os.File{p.dir, p.info} {
		if f != nil {
			_ = f.Close()
		}
	}
}
