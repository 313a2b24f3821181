package ssh

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"hermes/pool/ssh/sshdtest"
)

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read1(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// hostKey is the key that a server's known_hosts lists, and its line without the host.
func hostKey(t testing.TB, s *sshdtest.Server) (key gossh.PublicKey, text string) {
	t.Helper()
	_, _, key, _, _, err := gossh.ParseKnownHosts([]byte(read1(t, s.KnownHosts)))
	if err != nil {
		t.Fatal(err)
	}
	return key, strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key)))
}

func listed(s *sshdtest.Server) string { return fmt.Sprintf("[%s]:%d", s.Host, s.Port) }

// An unknown host is not talked to, and the error says what to do.
func TestAnUnknownHost(t *testing.T) {
	s := sshdtest.Start(t)
	key, _ := hostKey(t, s)
	for _, text := range []string{"", "# nothing\n", "other ssh-ed25519 " + strings.Fields(string(gossh.MarshalAuthorizedKey(key)))[1] + "\n"} {
		write(t, s.KnownHosts, text)
		err := refusal(t, open(t, options(t, s), spec(s)))
		var host *HostKeyError
		if !errors.As(err, &host) || host.Changed || host.Fingerprint != gossh.FingerprintSHA256(key) {
			t.Fatalf("%v", err)
		}
		for _, want := range []string{
			host.Fingerprint, listed(s), "not in known_hosts", fmt.Sprintf("ssh -p %d -i %s %s@127.0.0.1", s.Port, s.Key, s.User),
			fmt.Sprintf("ssh-keyscan -t ed25519 -p %d 127.0.0.1 >> %s", s.Port, s.KnownHosts),
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q lacks %q", err, want)
			}
		}
	}
	if log := s.Log(); strings.Contains(log, "Accepted") {
		t.Errorf("somebody logged in:\n%s", log)
	}
}

// The configuration cannot switch the check off.
func TestStrictHostKeyCheckingIsAlwaysOn(t *testing.T) {
	s := sshdtest.Start(t)
	for _, text := range []string{"StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nGlobalKnownHostsFile /dev/null\n", "StrictHostKeyChecking accept-new\nUserKnownHostsFile /nonexistent/known\n"} {
		write(t, filepath.Join(s.Client, ".ssh", "config"), "Host *\n"+text)
		err := refusal(t, open(t, options(t, s), spec(s)))
		if !strings.Contains(err.Error(), "not in known_hosts") || !strings.Contains(err.Error(), "does not count here") {
			t.Errorf("%v", err)
		}
	}
}

// A changed key is loud, and names the line.
func TestAChangedHostKey(t *testing.T) {
	s := sshdtest.Start(t)
	other, _ := sshdtest.NewKey(t, "")
	write(t, s.KnownHosts, "# a comment\n\n"+listed(s)+" "+string(gossh.MarshalAuthorizedKey(other.PublicKey())))
	err := refusal(t, open(t, options(t, s), spec(s)))
	var host *HostKeyError
	if !errors.As(err, &host) || !host.Changed {
		t.Fatalf("%v", err)
	}
	key, shown := hostKey(t, s)
	_, _ = key, shown
	for _, want := range []string{"HAS CHANGED", s.KnownHosts + ":3", gossh.FingerprintSHA256(other.PublicKey()), "ssh-keygen -R '" + listed(s) + "' -f " + s.KnownHosts} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}

// What known_hosts may hold, and a host that is one of it.
func TestKnownHosts(t *testing.T) {
	s := sshdtest.Start(t)
	_, key := hostKey(t, s)
	port := fmt.Sprint(s.Port)
	for name, text := range map[string]string{
		"hashed":                  knownhosts.HashHostname(listed(s)) + " " + key,
		"hashed among others":     knownhosts.HashHostname("elsewhere") + " " + key + "\n" + knownhosts.HashHostname(listed(s)) + " " + key,
		"a list":                  "elsewhere," + listed(s) + " " + key,
		"a pattern":               "[127.0.0.*]:" + port + " " + key,
		"a pattern without port":  "127.0.0.* " + key,
		"a comment":               listed(s) + " " + key + " me@here",
		"windows":                 listed(s) + " " + key + "\r",
		"lines that nobody reads": "127.0.0.1 1024 35 1234567\ngarbage\n" + listed(s) + " ssh-unheard-of AAAA\n[x ssh-ed25519 AAAA\n" + listed(s) + " " + key,
	} {
		write(t, s.KnownHosts, text+"\n")
		b := open(t, options(t, s), spec(s))
		start(t, b)
		if warned := b.takeWarnings(); (len(warned) > 0) != (name == "lines that nobody reads") {
			t.Errorf("%s: %q", name, warned)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "hermes-known-hosts-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// What does not make a host known.
func TestKnownHostsOfOthers(t *testing.T) {
	s := sshdtest.Start(t)
	_, key := hostKey(t, s)
	for name, text := range map[string]string{
		"another port":        "127.0.0.1 " + key,
		"another host":        fmt.Sprintf("[127.0.0.2]:%d %s", s.Port, key),
		"hashed for 22":       knownhosts.HashHostname("127.0.0.1") + " " + key,
		"negated":             fmt.Sprintf("!%s,[127.0.0.*]:%d %s", listed(s), s.Port, key),
		"revoked":             listed(s) + " " + key + "\n@revoked * " + key,
		"a broken revocation": listed(s) + " " + key + "\n@revoked * ssh-ed25519 AAAA",
		"its own authority":   "@cert-authority * " + key,
	} {
		write(t, s.KnownHosts, text+"\n")
		if err := refusal(t, open(t, options(t, s), spec(s))); strings.Contains(name, "revo") != strings.Contains(strings.ToLower(err.Error()), "revoke") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ecdsaKey(t testing.TB) (gossh.Signer, []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// A host with several keys is asked for the one that is known, whatever both sides would prefer.
func TestTheKnownKindOfKeyIsAskedFor(t *testing.T) {
	first, private1 := sshdtest.NewKey(t, "")
	second, private2 := ecdsaKey(t)
	s := sshdtest.Start(t, sshdtest.HostKey(first, private1), sshdtest.HostKey(second, private2))
	for _, k := range []gossh.Signer{first, second} {
		write(t, s.KnownHosts, listed(s)+" "+string(gossh.MarshalAuthorizedKey(k.PublicKey())))
		start(t, open(t, options(t, s), spec(s)))
	}
}

// A host that no longer has the kind of key that is known is told from one that cannot talk to us.
func TestAnotherKindOfKey(t *testing.T) {
	s := sshdtest.Start(t)
	other, _ := ecdsaKey(t)
	write(t, s.KnownHosts, listed(s)+" "+string(gossh.MarshalAuthorizedKey(other.PublicKey())))
	err := refusal(t, open(t, options(t, s), spec(s)))
	if !strings.Contains(err.Error(), "IS NOT THE KNOWN ONE") || !strings.Contains(err.Error(), s.KnownHosts+":1 (ecdsa-sha2-nistp256") {
		t.Errorf("%v", err)
	}
}

// certify makes a host certificate.
func certify(t testing.TB, ca gossh.Signer, key gossh.PublicKey, principal string, until uint64) []byte {
	t.Helper()
	cert := &gossh.Certificate{Key: key, CertType: gossh.HostCert, KeyId: "host", ValidPrincipals: []string{principal}, ValidBefore: until}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	return gossh.MarshalAuthorizedKey(cert)
}

// A host that an authority vouches for needs no line of its own.
func TestHostCertificates(t *testing.T) {
	ca, _ := sshdtest.NewKey(t, "")
	key, private := sshdtest.NewKey(t, "")
	file := filepath.Join(t.TempDir(), "cert.pub")
	write(t, file, string(certify(t, ca, key.PublicKey(), "127.0.0.1", gossh.CertTimeInfinity)))
	s := sshdtest.Start(t, sshdtest.HostKey(key, private), sshdtest.Config("HostCertificate "+file))
	authority := string(gossh.MarshalAuthorizedKey(ca.PublicKey()))
	for _, hosts := range []string{listed(s), "127.0.0.*", "*"} {
		write(t, s.KnownHosts, "@cert-authority "+hosts+" "+authority)
		start(t, open(t, options(t, s), spec(s)))
	}
	// The authority of others does not count, and is not asked for.
	for _, text := range []string{"@cert-authority *.example.com " + authority, authority} {
		write(t, s.KnownHosts, text)
		if err := refusal(t, open(t, options(t, s), spec(s))); !strings.Contains(err.Error(), "not in known_hosts") {
			t.Errorf("%v", err)
		}
	}
	for _, c := range []struct {
		principal string
		until     uint64
	}{{"elsewhere", gossh.CertTimeInfinity}, {"127.0.0.1", 1}} {
		write(t, file, string(certify(t, ca, key.PublicKey(), c.principal, c.until)))
		s.Close()
		s.Restart()
		write(t, s.KnownHosts, "@cert-authority * "+authority)
		if err := refusal(t, open(t, options(t, s), spec(s))); !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%v", err)
		}
	}
}

// A name of its own in known_hosts, without a port.
func TestHostKeyAlias(t *testing.T) {
	s := sshdtest.Start(t)
	_, key := hostKey(t, s)
	write(t, filepath.Join(s.Client, ".ssh", "config"), "Host 127.0.0.1\n HostKeyAlias box\n")
	write(t, s.KnownHosts, "box "+key+"\n")
	start(t, open(t, options(t, s), spec(s)))
}
