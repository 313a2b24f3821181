// Package ssh is the kind of back end that is a far host, reached over a real ssh server.
//
// A connection belongs to one back end of the configuration and is shared by all sessions (each has
// its own working directory there, which the pool remembers): logging in costs more than any
// command, and hosts limit how many may. Two back ends with the same host have two.
//
// The first use connects, asks the host what it is, copies the runner (pool/runner/program) to the
// user's cache there unless it is there already, and starts it as the one program of one session:
// it speaks pool/runner/wire over that session's standard input and output.
//
//   - Host keys are always checked against known_hosts; an unknown or a changed key is an error
//     that says what to do. See hostkey.go.
//   - Keys come from the agent and from files. Nothing is asked and no password is ever sent:
//     nobody is there to answer. See auth.go.
//   - ~/.ssh/config is read anew for each connection: HostName, User, Port, IdentityFile,
//     IdentitiesOnly, IdentityAgent, CertificateFile, HostKeyAlias, UserKnownHostsFile,
//     GlobalKnownHostsFile, ProxyJump, ConnectTimeout. What the back end says wins.
//   - The agent is not forwarded, and there is no terminal on the session. The host's environment
//     is that of a login; of ours it gets what the back end's env names, and nothing that begins
//     with HERMES_.
//   - allowed_commands and denied_commands are judged before anything is sent: a guard rail, not a
//     sandbox (package guard).
//   - When the connection is lost, calls end with an error that says that their command may still
//     have run. The runner on the host ends what they started after Options.Grace, and then itself.
//     The next use connects again.
//   - Stop and Remove end every command and the runner. A daemon that a command left behind on
//     purpose (nohup ... &) lives on, as on this machine, and the copy in the cache stays for the
//     next time.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/core/backend"
	"hermes/core/event"
	"hermes/pool"
	"hermes/pool/runner/embedded"
	"hermes/pool/ssh/guard"
)

// Name is the kind's name in the configuration.
const Name = "ssh"

// Options are for those who know better, and for tests.
type Options struct {
	Home      string                                 // whose .ssh is read; "" is HOME
	ReadHere  bool                                   // do not ask the system's ssh what ~/.ssh/config says
	Grace     time.Duration                          // between the loss of a connection and the end of what it started on the host; 0 means 10 s
	KillGrace time.Duration                          // between TERM and KILL; 0 means 2 s
	Heartbeat time.Duration                          // of the protocol; 0 means 10 s
	Program   func(os, arch string) (Program, error) // the runner for a system; nil takes what Hermes holds
}

// Program is the runner for one system.
type Program struct {
	SHA256 string // hexadecimal
	Size   int    // bytes
	Data   func() []byte
}

// heldProgram is what Hermes holds.
func heldProgram(os, arch string) (Program, error) {
	b, err := embedded.For(os, arch)
	return Program{SHA256: b.SHA256, Size: b.Size, Data: b.Data}, err
}

// Kind makes back ends that are far hosts.
type Kind struct{ opt Options }

// New returns the kind.
func New(o Options) *Kind {
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	if o.Program == nil {
		o.Program = heldProgram
	}
	if o.Home == "" {
		o.Home = homeDir()
	}
	return &Kind{opt: o}
}

// Describe says that all sessions use one connection.
func (k *Kind) Describe(s pool.Spec) pool.About {
	own := specOf(s)
	return pool.About{
		Traits: Declared().Traits, Where: own.Host, At: own.Host + ":" + strconv.Itoa(own.Port),
		Limited: len(own.AllowedCommands)+len(own.DeniedCommands) > 0,
	}
}

// Open checks what the configuration says; nothing is connected yet.
func (k *Kind) Open(_ string, settings pool.Spec) (pool.Backend, error) {
	s := specOf(settings)
	if s.Host == "" {
		return nil, errors.New("an ssh back end needs host: a name, an address, or a name in ~/.ssh/config")
	}
	if s.Port < 0 || s.Port > 65535 {
		return nil, fmt.Errorf("port %d is none: 1 to 65535", s.Port)
	}
	if strings.ContainsAny(s.User, " \t\n@:") {
		return nil, fmt.Errorf("user %q is no name on a host", s.User)
	}
	rules, err := guard.New(s.AllowedCommands, s.DeniedCommands)
	if err != nil {
		return nil, err
	}
	return &Backend{kind: k, spec: s, rules: rules}, nil
}

// Examine names the hosts. They are not called: that may ask for a touch of a key, and shows up in
// logs there.
func (k *Kind) Examine(_ context.Context, specs []pool.Spec, _ string) []backend.Finding {
	if len(specs) == 0 {
		return nil
	}
	var hosts []string
	for _, s := range specs {
		hosts = append(hosts, s.Name+" ("+specOf(s).Host+")")
	}
	slices.Sort(hosts)
	return []backend.Finding{{
		Level: event.Info, Subject: "hosts",
		Text: strings.Join(hosts, ", ") + "; not called: `hermes pool up NAME` tries one",
	}}
}

// extraEnvironment is what a command gets beyond the login's own. A bash that sees a login by ssh
// and no level reads .bashrc, for every command; the login has done that once, and what it exported
// is there.
func extraEnvironment(s fullSpec) []string {
	env := []string{"SHLVL=1"}
	for name, value := range s.Env {
		if !strings.HasPrefix(name, "HERMES_") && name != "" {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}

var (
	_ pool.Kind     = (*Kind)(nil)
	_ pool.Examiner = (*Kind)(nil)
)
