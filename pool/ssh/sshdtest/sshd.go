// Package sshdtest starts real ssh servers for tests: the system's sshd on a loopback port, with a
// configuration, host keys and a home of its own, so that nothing of the machine's is read or
// changed.
//
// A test that needs a server skips without one, and fails when HERMES_TEST_REQUIRE=1.
package sshdtest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"hermes/core/crash"
	"hermes/core/testwait"
)

// Server is one sshd. Its user is who runs the test; the home of sessions is Home.
type Server struct {
	Host       string // address to connect to
	Port       int
	User       string
	Home       string // HOME of sessions, empty at first
	Client     string // home of whoever connects: .ssh with known_hosts and the key
	Key        string // private key that is let in; its public half is Key.pub
	KnownHosts string // lists the server

	t   testing.TB
	dir string
	cmd *exec.Cmd
}

// Option changes a server before it starts. Lines of sshd_config win over ours.
type Option func(*options)

type options struct {
	lines []string
	env   []string
	host  []keyPair
}

// Config adds a line to the beginning of sshd_config, where it wins.
func Config(line string) Option { return func(o *options) { o.lines = append(o.lines, line) } }

// Env sets a variable of every session.
func Env(name, value string) Option {
	return func(o *options) { o.env = append(o.env, name+"="+value) }
}

// HostKey adds a host key instead of the server's own.
func HostKey(s gossh.Signer, private []byte) Option {
	return func(o *options) { o.host = append(o.host, keyPair{s, private}) }
}

type keyPair struct {
	gossh.Signer
	private []byte
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, change ...Option) *Server {
	t.Helper()
	path := findSshd(t)
	var o options
	for _, f := range change {
		f(&o)
	}
	me, err := user.Current()
	failOnError(t, err)
	s := &Server{Host: "127.0.0.1", User: me.Username, t: t, dir: t.TempDir()}
	s.Home, s.Client = filepath.Join(s.dir, "far"), filepath.Join(s.dir, "near")
	s.Key, s.KnownHosts = filepath.Join(s.Client, ".ssh", "id_ed25519"), filepath.Join(s.Client, ".ssh", "known_hosts")
	failOnError(t, os.Mkdir(s.Home, 0o700))
	failOnError(t, os.MkdirAll(filepath.Dir(s.Key), 0o700))
	s.makeKeys(&o)
	for try := 0; ; try++ {
		s.Port = freePort(t)
		s.writeConfig(&o)
		if err = s.startDaemon(path); err == nil {
			break
		}
		if try == 4 {
			t.Fatalf("sshd does not start: %v\n%s", err, s.Log())
		}
	}
	t.Cleanup(s.Stop)
	s.writeKnownHosts(o.host[0].PublicKey())
	return s
}

// findSshd returns sshd, or ends the test.
func findSshd(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			if os.Getuid() == 0 {
				failOnError(t, os.MkdirAll("/run/sshd", 0o755)) // where it locks itself in
			}
			return path
		}
	}
	if os.Getenv("HERMES_TEST_REQUIRE") == "1" {
		t.Fatal("there is no sshd here, and HERMES_TEST_REQUIRE=1 wants one: install openssh-server")
	}
	t.Skip("there is no sshd here: install openssh-server")
	return ""
}

func failOnError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// NewKey makes an ed25519 key and returns it with its private file's text, encrypted when there is
// a passphrase.
func NewKey(t testing.TB, passphrase string) (gossh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	failOnError(t, err)
	signer, err := gossh.NewSignerFromKey(private)
	failOnError(t, err)
	var block *pem.Block
	if passphrase == "" {
		block, err = gossh.MarshalPrivateKey(private, "test")
	} else {
		block, err = gossh.MarshalPrivateKeyWithPassphrase(private, "test", []byte(passphrase))
	}
	failOnError(t, err)
	return signer, pem.EncodeToMemory(block)
}

func (s *Server) makeKeys(o *options) {
	signer, private := NewKey(s.t, "")
	s.writeFile(s.Key, private)
	s.writeFile(s.Key+".pub", gossh.MarshalAuthorizedKey(signer.PublicKey()))
	s.Authorize(signer.PublicKey())
	if len(o.host) == 0 {
		HostKey(NewKey(s.t, ""))(o)
	}
	for i, k := range o.host {
		s.writeFile(filepath.Join(s.dir, fmt.Sprintf("host_%d", i)), k.private)
	}
}

func (s *Server) writeFile(name string, data []byte) {
	s.t.Helper()
	failOnError(s.t, os.WriteFile(name, data, 0o600))
}

// Authorize lets the owner of a key in, beside those who are let in already.
func (s *Server) Authorize(key gossh.PublicKey) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.dir, "authorized_keys"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	failOnError(s.t, err)
	_, err = f.Write(gossh.MarshalAuthorizedKey(key))
	failOnError(s.t, err)
	failOnError(s.t, f.Close())
}

// writeConfig writes sshd_config. Of a key that is given twice sshd takes the first.
func (s *Server) writeConfig(o *options) {
	lines := append([]string(nil), o.lines...)
	lines = append(lines, "Port "+strconv.Itoa(s.Port), "ListenAddress 127.0.0.1", "PidFile none", "UsePAM no", "StrictModes no", "LogLevel VERBOSE", "UseDNS no",
		"AuthorizedKeysFile "+filepath.Join(s.dir, "authorized_keys"), "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
		"SetEnv HOME="+s.Home+" "+strings.Join(o.env, " "), // one line: sshd takes the first only
		"PrintMotd no", "MaxStartups 100", "AllowTcpForwarding yes")
	for i := range o.host {
		lines = append(lines, fmt.Sprintf("HostKey %s/host_%d", s.dir, i))
	}
	s.writeFile(filepath.Join(s.dir, "sshd_config"), []byte(strings.Join(lines, "\n")+"\n"))
}

func (s *Server) startDaemon(path string) error {
	cmd := exec.Command(path, "-D", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stderr = log // a file: what is started inherits it, and nobody would wait for the end of a pipe
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	crash.Go("sshd", func() {
		defer close(ended)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(testwait.Hang); time.Now().Before(deadline); {
		select {
		case <-ended:
			return errors.New("it ended")
		case <-time.After(10 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", s.Addr()); err == nil {
			_ = conn.Close()
			s.cmd = cmd
			return nil
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	return errors.New("it does not listen")
}

func (s *Server) writeKnownHosts(key gossh.PublicKey) {
	s.writeFile(s.KnownHosts, fmt.Appendf(nil, "[%s]:%d %s", s.Host, s.Port, gossh.MarshalAuthorizedKey(key)))
}

// Addr is where it listens.
func (s *Server) Addr() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Log is what sshd has said.
func (s *Server) Log() string {
	data, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(data)
}

// Stop ends the server, its connections and everything that they started.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	killPids(descendantsOf(s.cmd.Process.Pid)...)
	killPids(s.cmd.Process.Pid)
	for isAlive(s.cmd.Process.Pid) {
		time.Sleep(5 * time.Millisecond)
	}
	s.cmd = nil
}

// Drop ends the connections, as a network that goes away: the server's processes of them are
// killed, and what these started lives on.
func (s *Server) Drop() { killPids(s.connectionPids()...) }

// Freeze stops the processes of connections without ending them, as a network that loses
// everything; or lets them go on.
func (s *Server) Freeze(on bool) {
	signal := syscall.SIGCONT
	if on {
		signal = syscall.SIGSTOP
	}
	for _, pid := range s.connectionPids() {
		_ = syscall.Kill(pid, signal)
	}
}

// connectionPids are the server's processes of connections.
func (s *Server) connectionPids() (pids []int) {
	for _, pid := range descendantsOf(s.cmd.Process.Pid) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.HasPrefix(string(name), "sshd") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Close ends the server but not what it started, as Drop does with connections. Restart brings it
// up again.
func (s *Server) Close() {
	pid := s.cmd.Process.Pid
	killPids(append([]int{pid}, s.connectionPids()...)...)
	for isAlive(pid) {
		time.Sleep(5 * time.Millisecond)
	}
}

// Restart starts the server again on the same port.
func (s *Server) Restart() {
	s.t.Helper()
	s.cmd = nil
	if err := s.startDaemon(findSshd(s.t)); err != nil {
		s.t.Fatalf("sshd does not start again: %v\n%s", err, s.Log())
	}
}

func killPids(pids ...int) {
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// isAlive says whether a process runs: one that nobody has collected yet does not.
func isAlive(pid int) bool {
	state, _, ok := statProcess(pid)
	return ok && state != "Z"
}

// descendantsOf are the processes below one, as long as their parents live.
func descendantsOf(pid int) (all []int) {
	children := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		child, _ := strconv.Atoi(filepath.Base(dir))
		if _, parent, ok := statProcess(child); ok {
			children[parent] = append(children[parent], child)
		}
	}
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		all = append(all, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

func statProcess(pid int) (state string, parent int, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	_, rest, _ := bytes.Cut(data[bytes.LastIndexByte(data, ')'):], []byte(" "))
	_, err = fmt.Sscan(string(rest), &state, &parent)
	return state, parent, err == nil
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	failOnError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
