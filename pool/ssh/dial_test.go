package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/core/testwait"
	"hermes/pool"
	"hermes/pool/ssh/sshdtest"
)

// listen returns the port of a server that does with connections what serve does.
func listen(t testing.TB, serve func(net.Conn)) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().(*net.TCPAddr).Port
}

func TestHostsThatCannotBeReached(t *testing.T) {
	s := sshdtest.Start(t)
	sshConfig(t, s, "Host *\n ConnectTimeout 1\n")
	var silent []net.Conn
	t.Cleanup(func() {
		for _, c := range silent {
			c.Close()
		}
	})
	closed := listen(t, func(c net.Conn) { c.Close() })
	web := listen(t, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); c.Close() })
	mute := listen(t, func(c net.Conn) { silent = append(silent, c) })
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := free.Addr().(*net.TCPAddr).Port
	free.Close()
	for port, want := range map[int]string{refused: "refused the connection", closed: "is that an ssh server?", web: "is that an ssh server?", mute: "says nothing"} {
		one := spec(s)
		own(one).Port = port
		if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprint(port)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	one := spec(s)
	own(one).Host = "no-such-host.invalid"
	if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "there is no host no-such-host.invalid") {
		t.Errorf("%v", err)
	}
}

// Whoever starts a back end can give up at any time.
func TestAStartThatIsGivenUp(t *testing.T) {
	s := sshdtest.Start(t)
	var conns []net.Conn
	t.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
	mute := listen(t, func(c net.Conn) { conns = append(conns, c) })
	one := spec(s)
	own(one).Port = mute
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := open(t, options(t, s), one).Start(ctx, &steps{}); err == nil || time.Since(begun) > testwait.Within(10*time.Second) {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := open(t, options(t, s), spec(s)).Start(ctx, &steps{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A name of ~/.ssh/config brings address, port, user and key.
func TestANameOfTheConfiguration(t *testing.T) {
	s := sshdtest.Start(t)
	key := filepath.Join(s.Client, "keys", s.User)
	write(t, key, read1(t, s.Key))
	write(t, s.Key, "no key")
	known := filepath.Join(s.Client, "elsewhere")
	write(t, known, read1(t, s.KnownHosts))
	write(t, s.KnownHosts, "")
	write(t, filepath.Join(s.Client, ".ssh", "config"), fmt.Sprintf(
		"Host other\n Port 1\nHost box*\n  HostName = 127.0.0.1\n  Port %d\n  User \"%s\"\n  IdentityFile ~/keys/%%r\n  UserKnownHostsFile /nonexistent %s\nHost *\n User wrong\n Port 2\n", s.Port, s.User, known))
	for _, here := range []bool{false, true} {
		o := options(t, s)
		o.ReadHere = here
		start(t, open(t, o, pool.Spec{Options: &Settings{Host: "box1"}}))
	}
}

func TestConfigurationsThatCannotBeUsed(t *testing.T) {
	s := sshdtest.Start(t)
	for text, want := range map[string][2]string{ // by the system's ssh, by the library
		"Match exec \"true\"\n User nobody-here\n":          {"did not let nobody-here in", "Match Exec is not supported"},
		"Match final all\n User nobody-here\n":              {"did not let nobody-here in", "unsupported Match criterion"},
		"Host *\n Prot 22\n":                                {"config: line 2: Bad configuration option: prot", "refused the connection"},
		"Host *\n Port many\n":                              {"config line 2: Bad port 'many'", "Port \"many\""},
		"Host *\n Port 70000\n":                             {"config line 2: Bad port '70000'", "port 70000"},
		"Host *\n ConnectTimeout soon\n":                    {"config line 2", "ConnectTimeout"},
		"Host *\n ProxyCommand nc %h %p\n":                  {"use ProxyJump", "use ProxyJump"},
		"Host *\n ProxyJump a\nHost a\n":                    {"jumphost loop", "in a circle"},
		"Host 127.0.0.1\n ProxyJump bob@:22\n":              {"config line 2", "a host is missing"},
		"Host 127.0.0.1\n ProxyJump a:b\n":                  {"config line 2", "no port"},
		"Host 127.0.0.1\n ProxyJump -oProxyCommand=x\n":     {"is none", "is none"},
		"Include nothing/*\nHost *\n HostName no.invalid\n": {"there is no host no.invalid", "there is no host no.invalid"},
	} {
		sshConfig(t, s, text)
		one := spec(s)
		own(one).Port, one.User = 0, ""
		for i, here := range []bool{false, true} {
			o := options(t, s)
			o.ReadHere = here
			if strings.HasPrefix(text, "Match") {
				own(one).Port = s.Port
			}
			err := refusal(t, open(t, o, one))
			if strings.Contains(want[i], "refused") && strings.Contains(err.Error(), "not in known_hosts") {
				continue // something listens at 22 here
			}
			if !strings.Contains(err.Error(), want[i]) {
				t.Errorf("%q: %v, want %q", text, err, want[i])
			}
		}
	}
}

func TestSpecsThatAreNone(t *testing.T) {
	for want, one := range map[string]pool.Spec{
		"needs host": {}, "port -1": {Options: &Settings{Host: "x", Port: -1}}, "port 65536": {Options: &Settings{Host: "x", Port: 65536}}, "user": {User: "a@b", Options: &Settings{Host: "x"}}, "denied_commands": {Options: &Settings{Host: "x", DeniedCommands: []string{""}}},
	} {
		if _, err := New(Options{}).Open("", one); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", one, err)
		}
	}
	s := settings{home: t.TempDir()}
	for _, host := range []string{"-oProxyCommand=x", "a b", "u@h", "ssh://x"} {
		if _, err := s.resolveTarget(t.Context(), fullSpec{Settings: Settings{Host: host}}); err == nil {
			t.Errorf("%q is a host", host)
		}
	}
}

// Through a host on the way, whose own key is checked and whose own key lets us in.
func TestProxyJump(t *testing.T) {
	gate, inner := sshdtest.Start(t), sshdtest.Start(t)
	start2 := func() (*Backend, pool.Spec) {
		sshConfig(t, inner, fmt.Sprintf("Host gate\n HostName 127.0.0.1\n Port %d\n User %s\n IdentityFile %s\n UserKnownHostsFile %s\nHost inner\n HostName 127.0.0.1\n Port %d\n ProxyJump gate\n",
			gate.Port, gate.User, gate.Key, gate.KnownHosts, inner.Port))
		one := spec(inner)
		own(one).Host, own(one).Port = "inner", 0
		return open(t, options(t, inner), one), one
	}
	b, one := start2()
	start(t, b)
	if !strings.Contains(gate.Log(), "direct-tcpip") && !strings.Contains(gate.Log(), "Accepted") {
		t.Errorf("nobody came by:\n%s", gate.Log())
	}
	p := newPool(t, options(t, inner), map[string]pool.Spec{"far": one})
	if res := output(t, p, "echo $HOME"); string(res.Output) != inner.Home+"\n" {
		t.Errorf("%q", res.Output)
	}
	lost := b.Gone()
	gate.Drop()
	select {
	case <-lost:
	case <-time.After(patience):
		t.Error("the loss of the host on the way was not noticed")
	}
	known := read1(t, gate.KnownHosts)
	write(t, gate.KnownHosts, "")
	if err := refusal(t, b); !strings.Contains(err.Error(), "gate, on the way to inner") || !strings.Contains(err.Error(), "not in known_hosts") {
		t.Errorf("%v", err)
	}
	write(t, gate.KnownHosts, known)
	write(t, inner.KnownHosts, "")
	if err := refusal(t, b); strings.Contains(err.Error(), "on the way") || !strings.Contains(err.Error(), "not in known_hosts") || strings.Contains(err.Error(), "keyscan") {
		t.Errorf("%v", err)
	}
	inner.Close()
	if err := refusal(t, b); !strings.Contains(err.Error(), "does not reach") {
		t.Errorf("%v", err)
	}
}
