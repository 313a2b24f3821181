package ssh

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"hermes/pool/ssh/sshdtest"
)

// Whatever a host answers, what we start there is a path of ours, or nothing.
func FuzzProbe(f *testing.F) {
	f.Add("noise\nM uname Linux x86_64\nM dir /root/.cache/hermes\nM have abc\nM end\n")
	f.Add("M uname Linux x86_64\r\nM dir /a'; rm -rf / #\nM end")
	f.Add("M bad \x1b[31m\nM uname\nM dir ..\nM end\n")
	made := map[string]Program{"amd64": {SHA256: strings.Repeat("ab", 32), Size: 1}}
	f.Fuzz(func(t *testing.T, out string) {
		lines, complete := markedLines([]byte(out), "M")
		if !complete {
			return
		}
		p, err := placeFromAnswers(lines, made, errors.New("missing"))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\x00") {
				t.Errorf("%q", err)
			}
			return
		}
		if !path.IsAbs(p.runnerPath()) || shellQuote(p.runnerPath()) != p.runnerPath() || p.program.SHA256 == "" || p.cached && p.shout {
			t.Errorf("%+v", p)
		}
	})
}

// What is left of known_hosts after the lines that nobody can read went can be read, or there is an
// error.
func FuzzKnownHosts(f *testing.F) {
	key, _ := sshdtest.NewKey(f, "")
	line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key.PublicKey())))
	for _, hosts := range []string{"a", "a,b", "!a,*", "[a]:1", "|1|AAAA|AAAA", "@cert-authority *", "@revoked *", "[a", "|2|a|b", "!", ","} {
		f.Add(hosts + " " + line + "\n")
	}
	f.Add("a 1024 35 123\n\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		name := filepath.Join(t.TempDir(), "known")
		write(t, name, text)
		k, err := readHostKeys([]string{name, name + "-missing"})
		if err != nil {
			if !strings.Contains(text, "@") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		defer k.Close()
		one := target{host: "a", port: 22, user: "u"}
		if len(k.keyAlgorithms(one)) == 0 {
			t.Error("no kind of key is asked for")
		}
	})
}

func FuzzHop(f *testing.F) {
	for _, s := range []string{"host", "user@host:22", "ssh://u@[::1]:22/", "[::1]", "@", ":", "a@b@c:1"} {
		f.Add(s)
	}
	s := settings{home: f.TempDir()}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := s.parseHop(t.Context(), text)
		if err == nil && (one.host == "" || one.port < 1 || one.port > 65535 || strings.HasPrefix(one.host, "-")) {
			t.Errorf("%q: %+v", text, one)
		}
	})
}
