package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// identity proves to one host who we are: by keys of the agent and of files, and by nothing that a
// person would have to type.
type identity struct {
	t     target
	agent agent.ExtendedAgent // nil without
	conn  net.Conn

	mu       sync.Mutex
	signers  []gossh.Signer
	tried    []string // for the message when nothing fits
	warnings []string
	locked   []string // key files that need a passphrase
	offered  []string // what the host takes
	partial  []string // what it took already
}

// collectKeys collects the keys. Errors are about a key_file that cannot be used; keys that were
// only guessed are skipped.
func collectKeys(ctx context.Context, t target) (*identity, error) {
	id := &identity{t: t}
	held := id.dialAgent(ctx)
	for _, file := range t.keys {
		if err := id.addKeyFile(file, held); err != nil {
			id.Close()
			return nil, err
		}
	}
	for _, s := range held {
		if !t.only && !id.hasKey(s.PublicKey()) {
			id.addSigner(s, "agent")
		}
	}
	if t.explicit == "" { // as the system's ssh does: what the agent holds needs no file
		slices.SortStableFunc(id.signers, func(a, b gossh.Signer) int { return id.rankSigner(a, held) - id.rankSigner(b, held) })
	}
	return id, nil
}

// Close lets the agent go.
func (id *identity) Close() {
	if id.conn != nil {
		_ = id.conn.Close()
	}
}

// dialAgent asks the agent for its keys. One that does not answer is none, with a warning.
func (id *identity) dialAgent(ctx context.Context) []gossh.Signer {
	if id.t.agent == "" {
		return nil
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", id.t.agent)
	if err != nil {
		id.warnings = append(id.warnings, fmt.Sprintf("the ssh agent at %s cannot be asked: %v", id.t.agent, err))
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	id.conn = conn
	id.agent = agent.NewClient(conn)
	signers, err := id.agent.Signers()
	if err != nil {
		id.warnings = append(id.warnings, fmt.Sprintf("the ssh agent at %s does not tell its keys: %v", id.t.agent, err))
	}
	return signers
}

// addKeyFile adds the key in a file, and its certificates.
func (id *identity) addKeyFile(path string, held []gossh.Signer) error {
	explicit := id.t.explicit != ""
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && (!explicit || id.fromPublic(path, held)) {
		id.fromPublic(path, held)
		return nil
	}
	if err != nil {
		return id.unusableKey(explicit, "key_file cannot be read: %w", err)
	}
	id.checkPermissions(path)
	signer, err := gossh.ParsePrivateKey(data)
	var locked *gossh.PassphraseMissingError
	switch {
	case err == nil:
		id.addWithCertificates(path, signer)
		return nil
	case errors.As(err, &locked):
		return id.addEncryptedKey(path, locked, held)
	}
	if pub, _, _, _, bad := gossh.ParseAuthorizedKey(data); bad == nil { // IdentityFile may name the public half
		if s := findSigner(held, pub); s != nil {
			id.addWithCertificates(path, s)
			return nil
		}
		return id.unusableKey(explicit, "key_file %s is a public key, and the agent does not hold its private half: name the private file, or ssh-add it", id.commentOf(path))
	}
	if id.fromPublic(path, held) { // a kind that only the agent can use
		return nil
	}
	return id.unusableKey(explicit, "key_file %s is no private key that can be read (perhaps the ssh agent can: ssh-add it): %w", id.commentOf(path), err)
}

func (id *identity) unusableKey(explicit bool, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if explicit {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		id.warnings = append(id.warnings, strings.Replace(err.Error(), "key_file", "the key", 1))
	}
	return nil
}

func (id *identity) commentOf(path string) string {
	if id.t.explicit != "" {
		return id.t.explicit
	}
	return path
}

// addEncryptedKey uses a key whose passphrase only the agent knows.
func (id *identity) addEncryptedKey(path string, locked *gossh.PassphraseMissingError, held []gossh.Signer) error {
	if locked.PublicKey != nil {
		if s := findSigner(held, locked.PublicKey); s != nil {
			id.addWithCertificates(path, s)
			return nil
		}
	}
	if id.fromPublic(path, held) {
		return nil
	}
	if id.t.explicit != "" {
		return fmt.Errorf("key_file %s is encrypted, and hermes never asks for passphrases: hand it to the ssh agent with\n  ssh-add %s\n%s",
			id.t.explicit, shellQuote(id.t.explicit), id.agentHint())
	}
	id.locked = append(id.locked, path)
	return nil
}

func (id *identity) agentHint() string {
	if id.t.agent == "" {
		return "(no agent runs for this program: SSH_AUTH_SOCK is not set; eval \"$(ssh-agent)\" starts one)"
	}
	return "(the agent at " + id.t.agent + " does not hold it)"
}

// fromPublic finds a key in the agent by the public file beside a private one.
func (id *identity) fromPublic(path string, held []gossh.Signer) bool {
	data, err := os.ReadFile(path + ".pub")
	if err != nil {
		return false
	}
	pub, _, _, _, err := gossh.ParseAuthorizedKey(data)
	if err != nil {
		return false
	}
	s := findSigner(held, pub)
	if s == nil {
		return false
	}
	id.addWithCertificates(path, s)
	return true
}

// checkPermissions warns of a key that others can read: the system's ssh would not even use it.
func (id *identity) checkPermissions(path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		id.warnings = append(id.warnings, fmt.Sprintf("others can read the private key %s (mode %04o): chmod 600 %s", id.commentOf(path), info.Mode().Perm(), shellQuote(id.commentOf(path))))
	}
}

// addWithCertificates adds a key, behind the certificates for it.
func (id *identity) addWithCertificates(path string, signer gossh.Signer) {
	for _, name := range append([]string{path + "-cert.pub"}, id.t.certs...) {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		pub, _, _, _, err := gossh.ParseAuthorizedKey(data)
		cert, ok := pub.(*gossh.Certificate)
		if err != nil || !ok {
			id.warnings = append(id.warnings, fmt.Sprintf("%s is no certificate", name))
			continue
		}
		if s, err := gossh.NewCertSigner(cert, signer); err == nil { // otherwise it is one for another key
			id.addSigner(s, name)
		}
	}
	id.addSigner(signer, id.commentOf(path))
}

func (id *identity) addSigner(s gossh.Signer, from string) {
	if id.hasKey(s.PublicKey()) {
		return
	}
	id.signers = append(id.signers, s)
	id.tried = append(id.tried, fmt.Sprintf("%s (%s)", from, fingerprint(s.PublicKey())))
}

func fingerprint(key gossh.PublicKey) string {
	if cert, ok := key.(*gossh.Certificate); ok {
		return "certificate " + cert.KeyId + " for " + gossh.FingerprintSHA256(cert.Key)
	}
	return gossh.FingerprintSHA256(key)
}

func (id *identity) hasKey(key gossh.PublicKey) bool { return findSigner(id.signers, key) != nil }

func findSigner(signers []gossh.Signer, key gossh.PublicKey) gossh.Signer {
	for _, s := range signers {
		if bytes.Equal(s.PublicKey().Marshal(), key.Marshal()) {
			return s
		}
	}
	return nil
}

func (id *identity) rankSigner(s gossh.Signer, held []gossh.Signer) int {
	if findSigner(held, s.PublicKey()) != nil {
		return 0
	}
	return 1
}

// setAuth enters what proves who we are.
func (id *identity) setAuth(c *gossh.ClientConfig) {
	c.User = id.t.user
	c.Auth = []gossh.AuthMethod{gossh.PublicKeys(id.signers...)}
	c.AuthCallback = func(ctx *gossh.ClientAuthContext) (gossh.AuthMethod, error) {
		id.mu.Lock()
		defer id.mu.Unlock()
		id.offered, id.partial = ctx.AllowedMethods, ctx.PartialSuccessMethods
		return nil, nil // nil: what Auth says
	}
}

// explainRefusal says why the host let nobody in, or nil when err is about something else.
func (id *identity) explainRefusal(err error) error {
	id.mu.Lock()
	defer id.mu.Unlock()
	text := err.Error()
	if !strings.Contains(text, "unable to authenticate") && !strings.Contains(text, "authentication") && !strings.Contains(text, "no auth") {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s did not let %s in: ", id.t.hostPort(), id.t.user)
	switch {
	case len(id.partial) > 0:
		fmt.Fprintf(&b, "it took the key, and asks for %s as well, which only a person can answer; hermes never sends passwords or codes. "+
			"Let this user in by key alone", cleanOutput([]byte(strings.Join(id.offered, " or "))))
	case len(id.offered) > 0 && !slices.Contains(id.offered, "publickey"):
		fmt.Fprintf(&b, "it only takes %s, and hermes never sends passwords or answers questions. Let it take keys (PubkeyAuthentication), "+
			"and put yours there with ssh-copy-id", cleanOutput([]byte(strings.Join(id.offered, " or "))))
	case len(id.signers) == 0:
		fmt.Fprintf(&b, "there is no key to show it. Set key_file, or hand a key to the ssh agent with ssh-add, and put its public half there with ssh-copy-id")
	default:
		fmt.Fprintf(&b, "it knows none of %s. Is the user right? Put a key there with ssh-copy-id, or set key_file", nameFew(id.tried))
	}
	if strings.Contains(text, "too many authentication") {
		b.WriteString(". It had enough before all keys were shown: set key_file, so that only that one is")
	}
	for _, path := range id.locked {
		fmt.Fprintf(&b, ". %s is encrypted and was not shown: ssh-add %s", path, shellQuote(path))
	}
	return errors.New(b.String())
}

// nameFew shortens a list for a message.
func nameFew(all []string) string {
	if len(all) > 6 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:6], ", "), len(all)-6)
	}
	return strings.Join(all, ", ")
}
