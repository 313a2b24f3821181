package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// target is one host to log in at, after the ssh configuration was asked about it.
type target struct {
	alias   string // as the back end or ProxyJump names it
	host    string // to connect to
	port    int
	user    string
	keyName string   // under which known_hosts lists it, when that is not host and port
	known   []string // known_hosts files, the user's own first; they need not exist
	strict  string   // StrictHostKeyChecking, for messages

	keys     []string // files of private keys, in the order in which they are tried
	certs    []string // certificates beside those that lie beside their keys
	only     bool     // of the agent's keys only those among keys
	explicit string   // key_file of the back end, as it was written; "" without
	agent    string   // socket of the agent; "" for none
	timeout  time.Duration
	via      []target // hosts on the way, the nearest first
}

func (t target) hostPort() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

// knownHostsName is the address under which known_hosts lists the host.
func (t target) knownHostsName() string {
	if t.keyName != "" {
		return net.JoinHostPort(t.keyName, "22")
	}
	return t.hostPort()
}

// String is how people write it.
func (t target) String() string {
	if t.port == 22 {
		return t.user + "@" + t.host
	}
	return t.user + "@" + t.hostPort()
}

const (
	defaultTimeout = 15 * time.Second // of connecting and of logging in
	maxJumps       = 8
)

// resolveTarget completes what a back end says by what the ssh configuration says.
func (s settings) resolveTarget(ctx context.Context, spec fullSpec) (target, error) {
	t, err := s.resolveAlias(ctx, spec.Host, spec.User, spec.Port)
	if err != nil {
		return t, err
	}
	if spec.KeyFile != "" {
		t.explicit, t.keys, t.certs, t.only = spec.KeyFile, []string{s.expandPath(spec.KeyFile, t)}, nil, true
	}
	t.via, err = s.jumpHosts(ctx, t.alias, 0)
	return t, err
}

// resolveAlias asks the configuration about one name. User and port win over it when they are
// given.
func (s settings) resolveAlias(ctx context.Context, alias, login string, port int) (t target, err error) {
	if alias == "" || strings.HasPrefix(alias, "-") || strings.ContainsAny(alias, " \t\n/@") {
		return t, fmt.Errorf("host %q is none: write a name, an address, or a name in ~/.ssh/config; user and port are keys of their own", alias)
	}
	if err := s.askAbout(ctx, alias); err != nil {
		return t, err
	}
	t = target{alias: alias, host: alias, user: login, port: port}
	if name := s.firstValue(alias, "HostName"); name != "" {
		t.host = strings.NewReplacer("%%", "%", "%h", alias, "%n", alias).Replace(name)
	}
	if t.port == 0 {
		if t.port, err = s.intValue(alias, "Port"); err != nil {
			return t, err
		}
	}
	if t.port == 0 {
		t.port = 22
	}
	if t.port > 65535 {
		return t, fmt.Errorf("port %d of %s is none: they end at 65535", t.port, alias)
	}
	if t.user == "" {
		t.user = s.loginUser(alias)
	}
	if t.timeout, err = s.connectTimeout(alias); err != nil {
		return t, err
	}
	t.keyName = s.firstValue(alias, "HostKeyAlias")
	t.strict = s.firstValue(alias, "StrictHostKeyChecking")
	s.findKeys(&t)
	s.hostFiles(&t)
	return t, nil
}

func (s settings) loginUser(alias string) string {
	if name := s.firstValue(alias, "User"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// findKeys finds the keys to try.
func (s settings) findKeys(t *target) {
	t.only = s.isYes(t.alias, "IdentitiesOnly")
	for _, path := range s.valuesOf(t.alias, "IdentityFile") {
		if !strings.EqualFold(path, "none") {
			t.keys = append(t.keys, s.expandPath(path, *t))
		}
	}
	if len(s.valuesOf(t.alias, "IdentityFile")) == 0 {
		for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			t.keys = append(t.keys, filepath.Join(s.home, ".ssh", name))
		}
	}
	for _, path := range s.valuesOf(t.alias, "CertificateFile") {
		t.certs = append(t.certs, s.expandPath(path, *t))
	}
	t.agent = os.Getenv("SSH_AUTH_SOCK")
	switch name := s.firstValue(t.alias, "IdentityAgent"); {
	case name == "" || name == "SSH_AUTH_SOCK":
	case strings.EqualFold(name, "none"):
		t.agent = ""
	case strings.HasPrefix(name, "$") && !strings.HasPrefix(name, "${"):
		t.agent = os.Getenv(name[1:])
	default:
		t.agent = s.expandPath(name, *t)
	}
}

// hostFiles finds the files with known host keys.
func (s settings) hostFiles(t *target) {
	own := strings.Fields(s.firstValue(t.alias, "UserKnownHostsFile"))
	if len(own) == 0 {
		own = []string{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"}
	}
	global := strings.Fields(s.firstValue(t.alias, "GlobalKnownHostsFile"))
	if len(global) == 0 {
		global = []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
	}
	for _, path := range append(own, global...) {
		if !strings.EqualFold(path, "none") && path != os.DevNull {
			t.known = append(t.known, s.expandPath(strings.Trim(path, `"`), *t))
		}
	}
}

// jumpHosts lists the hosts on the way to a name, the nearest first.
func (s settings) jumpHosts(ctx context.Context, alias string, depth int) ([]target, error) {
	jump, command := s.firstValue(alias, "ProxyJump"), s.firstValue(alias, "ProxyCommand")
	if jump == "" && command != "" && !strings.EqualFold(command, "none") {
		return nil, fmt.Errorf("the ssh configuration reaches %s by ProxyCommand, which hermes does not run: use ProxyJump", alias)
	}
	if jump == "" || strings.EqualFold(jump, "none") {
		return nil, nil
	}
	if depth >= maxJumps {
		return nil, fmt.Errorf("the ssh configuration reaches %s by more than %d jumps: does ProxyJump lead in a circle?", alias, maxJumps)
	}
	var all []target
	for i, text := range strings.Split(jump, ",") {
		t, err := s.parseHop(ctx, strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("ProxyJump of %s: %w", alias, err)
		}
		if i == 0 { // the first may have a way of its own
			before, err := s.jumpHosts(ctx, t.alias, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, before...)
		}
		all = append(all, t)
	}
	return all, nil
}

// parseHop reads [user@]host[:port] or ssh://[user@]host[:port].
func (s settings) parseHop(ctx context.Context, text string) (target, error) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "ssh://"), "/")
	login, port := "", 0
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		login, text = text[:i], text[i+1:]
	}
	if host, number, err := net.SplitHostPort(text); err == nil {
		if port, err = strconv.Atoi(number); err != nil || port < 1 {
			return target{}, fmt.Errorf("%q has no port that is a number", text)
		}
		text = host
	}
	text = strings.Trim(text, "[]")
	if text == "" {
		return target{}, errors.New("a host is missing")
	}
	return s.resolveAlias(ctx, text, login, port)
}
