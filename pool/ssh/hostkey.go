package ssh

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skeema/knownhosts"
	gossh "golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys is what known_hosts says. There is no way past it: an unknown host is not talked to,
// whatever StrictHostKeyChecking says, because nobody is there to be asked while a model works.
type hostKeys struct {
	db       *knownhosts.HostKeyDB
	copies   map[string]string // of files with lines that nobody can read, without those: the copy's name to the file's
	warnings []string
}

// readHostKeys reads the files that exist. Close the result.
func readHostKeys(files []string) (*hostKeys, error) {
	k := &hostKeys{copies: map[string]string{}}
	var names []string
	for _, name := range files {
		if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			continue
		}
		readable, err := k.readableFile(name)
		if err != nil {
			k.Close()
			return nil, err
		}
		names = append(names, readable)
	}
	db, err := knownhosts.NewDB(names...)
	if err != nil {
		k.Close()
		return nil, fmt.Errorf("reading known_hosts: %w", err)
	}
	k.db = db
	return k, nil
}

// Close removes what was only needed for reading.
func (k *hostKeys) Close() {
	for name := range k.copies {
		_ = os.Remove(name)
	}
}

// readableFile returns the file's name, or that of a copy without the lines that cannot be read:
// the ssh of the system skips those, too, while the library gives up the file. Line numbers stay.
func (k *hostKeys) readableFile(name string) (string, error) {
	if _, err := xknownhosts.New(name); err == nil {
		return name, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("reading known_hosts: %w", err)
	}
	dir, err := os.MkdirTemp("", "hermes-known-hosts-")
	if err != nil {
		return "", fmt.Errorf("reading known_hosts: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if err := checkLine(filepath.Join(dir, "line"), line); err != nil {
			if bytes.HasPrefix(bytes.TrimSpace(line), []byte("@")) { // it may revoke a key
				return "", fmt.Errorf("%s:%d cannot be read, and may revoke a key: correct it or remove it: %w", name, n, err)
			}
			k.warnings = append(k.warnings, fmt.Sprintf("%s:%d cannot be read and counts for nothing: %v", name, n, err))
			line = []byte("# " + fmt.Sprint(n))
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return k.copyReadable(name, out.Bytes())
}

func (k *hostKeys) copyReadable(name string, data []byte) (string, error) {
	f, err := os.CreateTemp("", "hermes-known-hosts-*")
	if err != nil {
		return "", fmt.Errorf("reading known_hosts: %w", err)
	}
	k.copies[f.Name()] = name
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("reading known_hosts: %w", err)
	}
	return f.Name(), nil
}

// checkLine says why the library cannot read a line. It is asked by a file, because it reads
// nothing else.
func checkLine(scratch string, line []byte) error {
	if line = bytes.Trim(line, " \t\r"); len(line) == 0 || line[0] == '#' {
		return nil
	}
	if err := os.WriteFile(scratch, append(slices.Clone(line), '\n'), 0o600); err != nil {
		return err
	}
	_, err := xknownhosts.New(scratch)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "knownhosts: "+scratch+":1: "))
	}
	return nil
}

// keyAlgorithms lists the kinds of host key to ask for: the known ones first, or a host with
// several keys would show one that is not listed, which looks like an attack. The others follow, so
// that a host that has no known one any more is told apart from one that cannot talk to us.
func (k *hostKeys) keyAlgorithms(t target) []string {
	known := k.db.HostKeyAlgorithms(t.knownHostsName())
	supported := gossh.SupportedAlgorithms().HostKeys
	var out []string
	for _, name := range known {
		if slices.Contains(supported, name) {
			out = append(out, name)
		}
	}
	for _, name := range supported {
		if !slices.Contains(out, name) && !strings.Contains(name, "-cert-") {
			out = append(out, name)
		}
	}
	return out
}

// checkKey checks a host's key and keeps what it showed.
func (k *hostKeys) checkKey(t target) gossh.HostKeyCallback {
	check := k.db.HostKeyCallback()
	return func(_ string, remote net.Addr, key gossh.PublicKey) error {
		if t.keyName != "" || len(t.via) > 0 || remote == nil {
			remote = &net.TCPAddr{IP: net.IPv4zero}
		}
		err := check(t.knownHostsName(), remote, key)
		if err == nil && !k.listsKey(t, key) {
			err = &xknownhosts.KeyError{} // an authority's own key, shown as a host's: the library takes that
		}
		if err != nil {
			return k.explainFailure(t, key, err)
		}
		return nil
	}
}

// listsKey says whether a line is about this key. A certificate has been checked by its authority's
// line.
func (k *hostKeys) listsKey(t target, key gossh.PublicKey) bool {
	if _, ok := key.(*gossh.Certificate); ok {
		return true
	}
	return slices.ContainsFunc(k.db.HostKeys(t.knownHostsName()), func(known knownhosts.PublicKey) bool {
		return !known.Cert && bytes.Equal(known.Marshal(), key.Marshal())
	})
}

// HostKeyError says why a host is not talked to. It is never worth another try by itself.
type HostKeyError struct {
	Host        string // as known_hosts lists it
	Fingerprint string // of the key that it showed, SHA256:...
	Changed     bool   // another key is known
	text        string
	err         error
}

func (e *HostKeyError) Error() string { return e.text }
func (e *HostKeyError) Unwrap() error { return e.err }

func (k *hostKeys) explainFailure(t target, key gossh.PublicKey, err error) error {
	e := &HostKeyError{Host: knownhosts.Normalize(t.knownHostsName()), Fingerprint: gossh.FingerprintSHA256(key), err: err}
	shown := fmt.Sprintf("an %s key with the fingerprint %s", strings.TrimPrefix(key.Type(), "ssh-"), e.Fingerprint)
	var revoked *xknownhosts.RevokedError
	var unlike *xknownhosts.KeyError
	switch {
	case errors.As(err, &revoked):
		e.text = fmt.Sprintf("THE HOST KEY OF %s IS REVOKED by %s: it showed %s. hermes does not talk to it.", e.Host, k.placeOf(revoked.Revoked), shown)
	case errors.As(err, &unlike) && len(unlike.Want) > 0:
		e.Changed = true
		e.text = k.changedKeyMessage(t, e.Host, shown, key, unlike.Want)
	case errors.As(err, &unlike):
		e.text = unknownHost(t, e.Host, shown, key)
	default: // a certificate
		e.text = fmt.Sprintf("the certificate of %s does not prove that it is this host (%v): it showed %s. hermes does not talk to it.", e.Host, heard{err}, shown)
	}
	return e
}

func (k *hostKeys) placeOf(known xknownhosts.KnownKey) string {
	name := known.Filename
	if original, ok := k.copies[name]; ok {
		name = original
	}
	return fmt.Sprintf("%s:%d", name, known.Line)
}

// changedKeyMessage is the loud one.
func (k *hostKeys) changedKeyMessage(t target, host, shown string, key gossh.PublicKey, want []xknownhosts.KnownKey) string {
	var places []string
	same := false
	for _, w := range want {
		same = same || w.Key.Type() == key.Type()
		places = append(places, fmt.Sprintf("%s (%s %s)", k.placeOf(w), w.Key.Type(), gossh.FingerprintSHA256(w.Key)))
	}
	head := fmt.Sprintf("THE HOST KEY OF %s HAS CHANGED", host)
	if !same {
		head = fmt.Sprintf("THE HOST KEY OF %s IS NOT THE KNOWN ONE", host)
	}
	return fmt.Sprintf("%s: it showed %s, but known is %s. Somebody may be listening in between, or the host was set up anew. "+
		"hermes does not talk to it. When its owner confirms the new fingerprint, forget the old key with:\n  ssh-keygen -R %s -f %s",
		head, shown, strings.Join(places, ", "), shellQuote(host), shellQuote(k.fileOf(t, want[0])))
}

func (k *hostKeys) fileOf(t target, known xknownhosts.KnownKey) string {
	if original, ok := k.copies[known.Filename]; ok {
		return original
	}
	if known.Filename == "" && len(t.known) > 0 {
		return t.known[0]
	}
	return known.Filename
}

// unknownHost says how to make the host known.
func unknownHost(t target, host, shown string, key gossh.PublicKey) string {
	file := "~/.ssh/known_hosts"
	if len(t.known) > 0 && !strings.HasPrefix(t.known[0], homeDir()+string(filepath.Separator)) {
		file = shellQuote(t.known[0])
	}
	text := fmt.Sprintf("the host key of %s is not in known_hosts, so hermes does not talk to it: it showed %s. "+
		"Compare that with what the host's owner tells you, and accept it by\n  %s", host, shown, t.loginCommand())
	if len(t.via) == 0 && t.keyName == "" {
		text += fmt.Sprintf("\nor, without being asked, by\n  ssh-keyscan -t %s %s>> %s", scanType(key), t.keyscanCommand(), file)
	}
	switch strings.ToLower(t.strict) {
	case "no", "off", "false", "accept-new":
		text += "\n(StrictHostKeyChecking of the ssh configuration does not count here: host keys are always checked)"
	}
	return text
}

// loginCommand is how a person logs in at the same host.
func (t target) loginCommand() string {
	var b strings.Builder
	b.WriteString("ssh ")
	if t.port != 22 {
		fmt.Fprintf(&b, "-p %d ", t.port)
	}
	if t.explicit != "" {
		fmt.Fprintf(&b, "-i %s ", shellQuote(t.explicit))
	}
	return b.String() + shellQuote(t.user+"@"+t.alias)
}

func (t target) keyscanCommand() string {
	if t.port == 22 {
		return shellQuote(t.host) + " "
	}
	return fmt.Sprintf("-p %d %s ", t.port, shellQuote(t.host))
}

func scanType(key gossh.PublicKey) string {
	switch typ := key.Type(); {
	case strings.HasPrefix(typ, "ecdsa"):
		return "ecdsa"
	default:
		return strings.TrimPrefix(typ, "ssh-")
	}
}

// shellQuote writes a word so that a shell takes it as one.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-~", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
