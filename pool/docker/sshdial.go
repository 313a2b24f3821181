package docker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"hermes/core/childenv"
	"hermes/core/crash"
)

// sshCommand is what reaches an engine behind ssh://user@host:port[/socket]: the system's own ssh,
// with its keys, agent and known hosts, running the docker command's relay there.
func sshCommand(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("engine %q: %w", address, err)
	}
	_, hasPassword := u.User.Password()
	switch {
	case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-"):
		return nil, fmt.Errorf("engine %q: it names no host", address)
	case hasPassword:
		return nil, fmt.Errorf("engine ssh://%s: a password does not belong into an address; use a key or an agent", u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("engine %q: nothing may follow the path", address)
	}
	argv := []string{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15"}
	if name := u.User.Username(); name != "" {
		argv = append(argv, "-l", name)
	}
	if port := u.Port(); port != "" {
		argv = append(argv, "-p", port)
	}
	argv = append(argv, "--", u.Hostname(), "docker")
	if path := strings.TrimSuffix(u.Path, "/"); path != "" {
		if strings.ContainsAny(path, " '\"\\$`;&|<>()*?\n") {
			return nil, fmt.Errorf("engine %q: the socket's path has characters that a shell would read", address)
		}
		argv = append(argv, "--host", "unix://"+path)
	}
	return append(argv, "system", "dial-stdio"), nil
}

// dialCommand starts a command whose standard input and output are the connection.
func dialCommand(argv []string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		cmd := exec.Command(argv[0], argv[1:]...) // it outlives the request that dialled it
		cmd.Env = childenv.Own(os.Environ())
		c := &commandConn{cmd: cmd}
		cmd.Stderr, cmd.WaitDelay = &c.said, lastWords // what it started may hold them for longer
		var err error
		if c.in, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
		if c.out, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("%s: %w", argv[0], err)
		}
		c.gone = make(chan struct{})
		return c, nil
	}
}

// commandConn is a process as a connection. Closing it ends the process.
type commandConn struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	said tail
	once sync.Once
	gone chan struct{} // closed when the process is collected, and all that it said is there
	wait sync.Once
}

// tail keeps the beginning of what a command said about its troubles.
type tail struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 2000 - t.data.Len(); room > 0 {
		t.data.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.data.String())
}

func (c *commandConn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err != nil {
		c.collectProcess() // nothing is left to read
		return n, c.explainEnd(err)
	}
	return n, nil
}

func (c *commandConn) Write(p []byte) (int, error) {
	n, err := c.in.Write(p)
	if err != nil {
		return n, c.explainEnd(err)
	}
	return n, nil
}

// explainEnd adds why ssh ended, which says more than that it did. What it said may come a moment
// after the end of its output.
func (c *commandConn) explainEnd(err error) error {
	late := time.NewTimer(lastWords)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
	}
	if said := c.said.String(); said != "" {
		return fmt.Errorf("%s: %s: %w", c.cmd.Args[0], said, err)
	}
	return err
}

const lastWords = 2 * time.Second

// collectProcess waits for the process, which somebody must: nobody reads its output after that.
func (c *commandConn) collectProcess() {
	c.wait.Do(func() {
		crash.Go("docker ssh", func() {
			_ = c.cmd.Wait()
			close(c.gone)
		})
	})
}

// CloseWrite ends the input only, as the client does on hijacked connections.
func (c *commandConn) CloseWrite() error { return c.in.Close() }

// Close ends the process and collects it.
func (c *commandConn) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		_ = c.cmd.Process.Kill()
		c.collectProcess()
		<-c.gone
	})
	return nil
}

type commandAddr struct{ program string }

func (commandAddr) Network() string  { return "command" }
func (a commandAddr) String() string { return a.program }

// LocalAddr implements net.Conn.
func (c *commandConn) LocalAddr() net.Addr { return commandAddr{c.cmd.Args[0]} }

// RemoteAddr implements net.Conn.
func (c *commandConn) RemoteAddr() net.Addr { return commandAddr{c.cmd.Args[0]} }

// SetDeadline implements net.Conn.
func (c *commandConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *commandConn) SetReadDeadline(t time.Time) error {
	if f, ok := c.out.(*os.File); ok {
		return f.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *commandConn) SetWriteDeadline(t time.Time) error {
	if f, ok := c.in.(*os.File); ok {
		return f.SetWriteDeadline(t)
	}
	return nil
}
