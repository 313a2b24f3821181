package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

const canary = `ca+nary/4711 "x"&ü-secret`

func TestKnownValuesInEveryForm(t *testing.T) {
	Add(canary, "correct horse battery", "correct horse", "dev", "line one of a long value\nline two of a long value")
	quoted, _ := json.Marshal(canary)
	hexed := hex.EncodeToString([]byte(canary))
	forms := map[string]string{
		"plain": canary, "query": url.QueryEscape(canary), "path": url.PathEscape(canary), "json": string(quoted[1 : len(quoted)-1]),
		"hex": hexed, "HEX": strings.ToUpper(hexed), "longer first": "correct horse battery", "shorter": "correct horse", "a line": "line two of a long value",
	}
	for name, f := range forms {
		if got := Redact("<" + f + ">"); got != "<"+Hidden+">" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for shift := range 3 {
		text := strings.Repeat("#", shift) + canary + "##"
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			if got := Redact(enc.EncodeToString([]byte(text))); !strings.Contains(got, Hidden) || len(got) > len(Hidden)+12 {
				t.Errorf("base64 at %d: %q", shift, got)
			}
		}
	}
	wrapped := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", 60) + canary + strings.Repeat("-", 60)))
	wrapped = wrapped[:76] + "\n" + wrapped[76:152] + "\n" + wrapped[152:]
	if got := Redact(wrapped); !strings.Contains(got, Hidden) {
		t.Errorf("wrapped: %q", got)
	}
	if got := Redact("nothing to hide in dev"); got != "nothing to hide in dev" {
		t.Error(got)
	}
}

func TestColoursDoNotHelp(t *testing.T) {
	Add(canary)
	got := Redact("a \x1b[31m" + canary[:8] + "\x1b[1m" + canary[8:12] + "\u200b" + canary[12:] + "\x1b[0m z")
	if want := "a \x1b[31m" + Hidden + "\x1b[1m\x1b[0m z"; got != want {
		t.Errorf("%q", got)
	}
	if got := Redact("ghp_\x1b[1m" + r16 + "\x1b[0m" + r16); !strings.HasPrefix(got, Hidden) || strings.Contains(got, r16) {
		t.Errorf("%q", got)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	Add(canary)
	in, _ := json.Marshal(map[string]any{"cmd": "echo " + canary, "n": 12.50, "password": "s3cr3tpw", "list": []string{"-----BEGIN PRIVATE KEY-----\nabc", canary}})
	got := JSON(in)
	var v map[string]any
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatal(err, string(got))
	}
	if v["cmd"] != "echo "+Hidden || v["password"] != Hidden || bytes.Contains(got, []byte("4711")) || bytes.Contains(got, []byte("abc")) {
		t.Errorf("%s", got)
	}
	same := []byte(`{"b": 1.0, "a": "x\ny"}`)
	if got := JSON(same); string(got) != string(same) {
		t.Errorf("%s", got)
	}
}

func TestPieces(t *testing.T) {
	Add(canary)
	head, tail := Pieces("a "+canary[:10], canary[14:]+" b")
	if head != "a "+Hidden || tail != Hidden+" b" {
		t.Errorf("%q %q", head, tail)
	}
	head, _ = Pieces("x ghp_"+r16, "")
	if head != "x "+Hidden {
		t.Errorf("%q", head)
	}
}

// However a text is cut into pieces, a stream shows no more of a secret than its first bytes, and
// all that is around it.
func TestStreamOfAnyPieces(t *testing.T) {
	Add(canary)
	texts := append([]string{"a " + canary + " b", "Password: ", "$ ls -l\r\n", "x\x1b[3" + "1m" + canary + "\x1b[0m"}, plain...)
	for _, m := range shaped {
		texts = append(texts, strings.NewReplacer("⟦", "", "⟧", "").Replace(m))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "first") + "\n" + rapid.SampledFrom(texts).Draw(t, "second")
		var s Stream
		var out []byte
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "n")
			out = append(out, s.Write([]byte(rest[:n]))...)
			rest = rest[n:]
		}
		out = append(out, s.Flush()...)
		if want := Redact(text); Redact(string(out)) != want && !leadIn(string(out), want) {
			t.Fatalf("\n got %q\nwant %q", out, want)
		}
		if strings.Contains(string(out), canary[6:]) {
			t.Fatalf("%q", out)
		}
	})
}

// leadIn allows what a stream shows of a shape before it knows: its beginning.
func leadIn(got, want string) bool {
	pieces := strings.Split(want, Hidden)
	for _, p := range pieces {
		i := strings.Index(got, p)
		if i < 0 || i > 40 {
			return false
		}
		got = strings.TrimPrefix(got[i+len(p):], Hidden)
	}
	return true
}

func TestStreamShowsPromptsAtOnce(t *testing.T) {
	Add(canary)
	var s Stream
	for _, text := range []string{"Password: ", "Continue? [y/N] ", "l", "s", " ", "-", "l", "12%\r", "50%\r", "building", "...", "用户> "} {
		if got := string(s.Write([]byte(text))); got != text {
			t.Errorf("%q showed %q", text, got)
		}
	}
}

func TestStreamBoundsWhatItHolds(t *testing.T) {
	var s Stream
	out := s.Write([]byte("-----BEGIN RSA PRIVATE KEY-----\n"))
	for range 200 {
		out = append(out, s.Write(bytes.Repeat([]byte("MIIEowIBAAKC\n"), 100))...)
		if len(s.buf) > 2*held+context {
			t.Fatal(len(s.buf))
		}
	}
	out = append(out, s.Write([]byte("-----END RSA PRIVATE KEY-----\nafter\n"))...)
	out = append(out, s.Flush()...)
	if strings.Contains(string(out), "MIIE") || !strings.HasSuffix(string(out), "\nafter\n") {
		t.Errorf("%.200q ... %q", out, out[max(0, len(out)-100):])
	}
}

// Twice the text takes about twice the time, whatever it is made of.
func TestLinear(t *testing.T) {
	for _, unit := range []string{"token=", "eyJ", "eyJ-", "://a:", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "sk-", "password: ", "\x1b[", "\x1b]", "bearer ", "cookie: a=", "authorization: ", "a:b@", "api_key", "1:AA", "&sig="} {
		took := func(n int) time.Duration {
			text := strings.Repeat(unit, n/len(unit))
			best := time.Hour
			for range 3 {
				began := processorTime(t)
				Redact(text)
				best = min(best, processorTime(t)-began)
			}
			return best
		}
		small, large := took(16<<10), took(128<<10)
		if large > 400*time.Millisecond && large > 24*small {
			t.Errorf("%q: 16 KiB %v, 128 KiB %v", unit, small, large)
		}
	}
}

// processorTime is what this process has computed so far, however busy the machine is.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func FuzzRedact(f *testing.F) {
	f.Add("token=", "x", 3)
	f.Add("a://b:c@", "sk-", 1)
	f.Add("\x1b]0;", "-----BEGIN PRIVATE KEY-----", 7)
	Add("fuzz-secret-value")
	f.Fuzz(func(t *testing.T, before, after string, size int) {
		text := before + "fuzz-secret-value" + after
		if got := Redact(text); strings.Contains(got, "fuzz-secret-value") {
			t.Errorf("%q shows the secret", got)
		}
		var s Stream
		var out []byte
		size = max(1, size&63)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			out = append(out, s.Write([]byte(rest[:n]))...)
			rest = rest[n:]
		}
		if out = append(out, s.Flush()...); strings.Contains(string(out), "fuzz-secret-value") {
			t.Errorf("%q shows the secret", out)
		}
		JSON([]byte(text))
		Pieces(before, after)
	})
}

func BenchmarkRedact(b *testing.B) {
	for i := range 20 {
		Add(fmt.Sprintf("bench-secret-%d-%s", i, r24))
	}
	log := strings.Repeat("2026-11-21T14:22:33Z INFO  server started on http://localhost:8080 after 123 ms (commit 9fceb02d0ae598e95dc970b74767f19372d61af8)\n", 10<<20/130)
	code := strings.Repeat("func (s *Server) handle(ctx context.Context, token string, r *Request) (err error) {\n\tif token == \"\" { return errSecret }\n\tkey := cache.Key(r.URL)\n", 10<<20/150)
	colours := strings.Repeat("\x1b[32mok\x1b[0m  hermes/core/secret \x1b[2m(cached)\x1b[0m 12 tests passed in 1.2 s\n", 10<<20/80)
	blob := strings.Repeat(r48+"/+"+r32, 10<<20/82)
	for name, text := range map[string]string{"log": log, "code": code, "colours": colours, "base64": blob} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Redact(text)
			}
		})
	}
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		for b.Loop() {
			var s Stream
			for i := 0; i < len(log); i += 32 << 10 {
				s.Write([]byte(log[i:min(len(log), i+32<<10)]))
			}
		}
	})
}
