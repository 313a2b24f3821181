package ssh

import (
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"hermes/pool/ssh/sshdtest"
)

// runAgent starts an agent that holds the keys in the files, and returns its socket.
func runAgent(t *testing.T, files ...string) string {
	t.Helper()
	keys := agent.NewKeyring()
	for _, f := range files {
		key, err := gossh.ParseRawPrivateKey([]byte(read1(t, f)))
		if err != nil {
			t.Fatal(err)
		}
		if err := keys.Add(agent.AddedKey{PrivateKey: key}); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "agent") // short: a socket's path may have 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
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
			_ = agent.ServeAgent(keys, conn) // until the client has enough
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		os.RemoveAll(dir)
	})
	return l.Addr().String()
}

func sshConfig(t *testing.T, s *sshdtest.Server, text string) {
	t.Helper()
	write(t, filepath.Join(s.Client, ".ssh", "config"), text)
}

func TestKeysOfTheUsualFiles(t *testing.T) {
	s := sshdtest.Start(t)
	one := spec(s)
	own(one).KeyFile = ""
	b := open(t, options(t, s), one)
	start(t, b)
	if w := b.takeWarnings(); len(w) > 0 {
		t.Errorf("%q", w)
	}
}

func TestKeysOfTheAgent(t *testing.T) {
	s := sshdtest.Start(t)
	away := filepath.Join(t.TempDir(), "key")
	if err := os.Rename(s.Key, away); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_AUTH_SOCK", runAgent(t, away))
	one := spec(s)
	own(one).KeyFile = ""
	start(t, open(t, options(t, s), one))
	// A key_file that is not here, but whose public half is, means the agent's.
	start(t, open(t, options(t, s), spec(s)))
	t.Setenv("SSH_AUTH_SOCK", "")
	if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "there is no key to show it") {
		t.Errorf("%v", err)
	}
	if err := refusal(t, open(t, options(t, s), spec(s))); !strings.Contains(err.Error(), "key_file cannot be read") {
		t.Errorf("%v", err)
	}
}

// IdentityAgent and IdentitiesOnly of the configuration.
func TestTheAgentOfTheConfiguration(t *testing.T) {
	s := sshdtest.Start(t)
	away := filepath.Join(t.TempDir(), "key")
	if err := os.Rename(s.Key, away); err != nil {
		t.Fatal(err)
	}
	socket := runAgent(t, away)
	one := spec(s)
	own(one).KeyFile = ""
	sshConfig(t, s, "Host *\n IdentityAgent "+socket+"\n")
	start(t, open(t, options(t, s), one))
	sshConfig(t, s, "Host *\n IdentityAgent "+socket+"\n IdentitiesOnly yes\n IdentityFile ~/.ssh/none\n")
	refusal(t, open(t, options(t, s), one))
	sshConfig(t, s, "Host *\n IdentityAgent "+socket+"\n IdentitiesOnly yes\n IdentityFile ~/.ssh/id_ed25519.pub\n")
	start(t, open(t, options(t, s), one))
	sshConfig(t, s, "Host *\n IdentityAgent none\n")
	t.Setenv("SSH_AUTH_SOCK", socket)
	refusal(t, open(t, options(t, s), one))
}

func TestAnAgentThatIsGone(t *testing.T) {
	s := sshdtest.Start(t)
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(t.TempDir(), "gone"))
	b := open(t, options(t, s), spec(s))
	start(t, b)
	if w := b.takeWarnings(); len(w) != 1 || !strings.Contains(w[0], "agent") {
		t.Errorf("%q", w)
	}
}

func TestAnEncryptedKey(t *testing.T) {
	s := sshdtest.Start(t)
	plain := filepath.Join(t.TempDir(), "plain")
	key, private := sshdtest.NewKey(t, "")
	write(t, plain, string(private))
	s.Authorize(key.PublicKey())
	raw, err := gossh.ParseRawPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := gossh.MarshalPrivateKeyWithPassphrase(raw, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	one := spec(s)
	own(one).KeyFile = filepath.Join(t.TempDir(), "locked")
	write(t, own(one).KeyFile, string(encode(locked)))
	err = refusal(t, open(t, options(t, s), one))
	if !strings.Contains(err.Error(), "is encrypted") || !strings.Contains(err.Error(), "ssh-add "+own(one).KeyFile) || !strings.Contains(err.Error(), "SSH_AUTH_SOCK is not set") {
		t.Errorf("%v", err)
	}
	t.Setenv("SSH_AUTH_SOCK", runAgent(t))
	if err = refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "does not hold it") {
		t.Errorf("%v", err)
	}
	t.Setenv("SSH_AUTH_SOCK", runAgent(t, plain))
	start(t, open(t, options(t, s), one))
	// One that was only guessed is no error by itself, but said when nothing else fits.
	t.Setenv("SSH_AUTH_SOCK", "")
	write(t, s.Key, string(encode(locked)))
	own(one).KeyFile = ""
	if err = refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "ssh-add "+s.Key) {
		t.Errorf("%v", err)
	}
}

func TestKeyFilesThatAreNone(t *testing.T) {
	s := sshdtest.Start(t)
	one := spec(s)
	for text, want := range map[string]string{
		"no key":                      "is no private key",
		"":                            "is no private key",
		read1(t, s.Key)[:60] + "\nxx": "is no private key",
		string(gossh.MarshalAuthorizedKey(stranger(t))): "is a public key",
	} {
		own(one).KeyFile = filepath.Join(t.TempDir(), "key")
		write(t, own(one).KeyFile, text)
		if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), own(one).KeyFile) {
			t.Errorf("%v", err)
		}
	}
}

func stranger(t testing.TB) gossh.PublicKey {
	key, _ := sshdtest.NewKey(t, "")
	return key.PublicKey()
}

func TestAKeyThatOthersCanRead(t *testing.T) {
	s := sshdtest.Start(t)
	if err := os.Chmod(s.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, options(t, s), specs(s))
	res := output(t, p, "true")
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "chmod 600 "+s.Key) {
		t.Errorf("%q", res.Warnings)
	}
	if res = output(t, p, "true"); len(res.Warnings) > 0 {
		t.Errorf("said again: %q", res.Warnings)
	}
}

// A certificate lets its owner in where only the authority is known.
func TestUserCertificates(t *testing.T) {
	ca, _ := sshdtest.NewKey(t, "")
	trusted := filepath.Join(t.TempDir(), "ca.pub")
	write(t, trusted, string(gossh.MarshalAuthorizedKey(ca.PublicKey())))
	s := sshdtest.Start(t, sshdtest.Config("TrustedUserCAKeys "+trusted))
	key, private := sshdtest.NewKey(t, "")
	one := spec(s)
	own(one).KeyFile = filepath.Join(t.TempDir(), "key")
	write(t, own(one).KeyFile, string(private))
	if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "knows none of "+own(one).KeyFile) {
		t.Errorf("%v", err)
	}
	cert := &gossh.Certificate{Key: key.PublicKey(), CertType: gossh.UserCert, KeyId: "me", ValidPrincipals: []string{s.User}, ValidBefore: gossh.CertTimeInfinity}
	cert.Extensions = map[string]string{"permit-pty": ""}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	write(t, own(one).KeyFile+"-cert.pub", string(gossh.MarshalAuthorizedKey(cert)))
	start(t, open(t, options(t, s), one))
	if !strings.Contains(s.Log(), "ID me") {
		t.Errorf("no certificate in\n%s", s.Log())
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	s := sshdtest.Start(t)
	one := spec(s)
	one.User = "nobody-here"
	if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "did not let nobody-here in") || !strings.Contains(err.Error(), "SHA256:") {
		t.Errorf("%v", err)
	}
	passwords := sshdtest.Start(t, sshdtest.Config("PubkeyAuthentication no"), sshdtest.Config("PasswordAuthentication yes"), sshdtest.Config("PermitRootLogin yes"))
	if err := refusal(t, open(t, options(t, passwords), spec(passwords))); !strings.Contains(err.Error(), "only takes password") || !strings.Contains(err.Error(), "never sends passwords") {
		t.Errorf("%v", err)
	}
	both := sshdtest.Start(t, sshdtest.Config("PasswordAuthentication yes"), sshdtest.Config("PermitRootLogin yes"), sshdtest.Config("AuthenticationMethods publickey,password"))
	if err := refusal(t, open(t, options(t, both), spec(both))); !strings.Contains(err.Error(), "it took the key, and asks for password") {
		t.Errorf("%v", err)
	}
}

// An agent with many keys uses up the host's patience: key_file is the way out.
func TestTooManyKeys(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Config("MaxAuthTries 3"))
	var files []string
	for range 8 {
		_, private := sshdtest.NewKey(t, "")
		name := filepath.Join(t.TempDir(), "key")
		write(t, name, string(private))
		files = append(files, name)
	}
	t.Setenv("SSH_AUTH_SOCK", runAgent(t, files...))
	one := spec(s)
	own(one).KeyFile = ""
	if err := refusal(t, open(t, options(t, s), one)); !strings.Contains(err.Error(), "key_file") {
		t.Errorf("%v", err)
	}
	start(t, open(t, options(t, s), spec(s)))
}
