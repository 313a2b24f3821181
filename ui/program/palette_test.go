package program

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/core/provider/modeltest"
)

// The palette begins with suggestions; what is typed finds whole words first.
func TestThePaletteSuggestsAndFindsWholeWordsFirst(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t, modeltest.Turn{Text: "Yes."})
	s := h.open()
	say(s, "first things first")
	s.WaitFor("Yes.")
	say(s, "/mouse")
	s.WaitFor("mouse off")
	s.Type("\x10")
	p := s.WaitFor("suggested")
	if at, rest := strings.Index(p, "suggested"), strings.Index(p, "Mouse on or off"); rest < at {
		t.Errorf("what ran last is not suggested:\n%s", p)
	}
	if _, list, _ := strings.Cut(p, "suggested"); !strings.Contains(strings.Join(strings.SplitN(list, "\n", 10)[:9], "\n"), "Choose the model") {
		t.Errorf("what is used most is not suggested:\n%s", p)
	}
	s.Type("model")
	s.Wait("the model first", func(p string) bool {
		_, list, ok := strings.Cut(p, "❯ model")
		lines := strings.SplitN(list, "\n", 3)
		return ok && len(lines) > 2 && strings.Contains(strings.ToLower(lines[1]), "model")
	})
	s.Type("\x1b")
	s.WaitGone("❯ model")
	s.Type("/resume fir")
	s.WaitFor("▸ first things first")
	s.Type("\x15")
	s.WaitGone("❯ /resume")
	leave(t, s)
}

// A blank behind /model and /resume is enough: the list is there, or a row says that it comes.
func TestModelsAndSessionsAreOfferedAtTheFirstBlank(t *testing.T) {
	t.Parallel()
	script := modeltest.NewScript(t, modeltest.Script{Turns: []modeltest.Turn{{Text: "Yes."}}})
	address, err := url.Parse(strings.TrimSuffix(script.URL, "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	var hold atomic.Bool
	answer, rest := make(chan struct{}), httputil.NewSingleHostReverseProxy(address)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/models") {
			rest.ServeHTTP(w, r)
			return
		}
		if hold.Load() {
			<-answer
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"test-model"},{"id":"vendor/slow-model"}]}`))
	}))
	defer slow.Close()
	h := newHome(t, strings.Replace(serverSettings(script), script.URL, slow.URL+"/v1", 1))
	s := h.open()
	say(s, "what is the capital")
	s.WaitFor("Yes.")
	s.Type("/resume ")
	s.Wait("the sessions", func(p string) bool {
		_, line, ok := strings.Cut(p, "▸ what is the capital")
		return ok && strings.Contains(line, "❯ /resume")
	})
	hold.Store(true)
	s.Type("\x15/model ")
	s.WaitFor("asking for the list")
	close(answer)
	s.WaitFor("scripted/vendor/slow-model")
	s.Type("slow")
	s.WaitGone("scripted/test-model")
	s.Type("\t")
	s.WaitFor("❯ /model scripted/vendor/slow-model")
	s.Type("\r")
	s.WaitFor("this session talks to scripted/vendor/slow-model")
	leave(t, s)
}

// A word of a command is completed with tab, as one word for the shell.
func TestTabCompletesFilesInACommand(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t)
	if err := os.WriteFile(filepath.Join(h.work, "odd name.txt"), []byte("words inside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.open()
	s.Type("$ cat odd")
	s.WaitFor("❯ $ cat odd")
	s.Type("\t")
	s.WaitFor("$ cat 'odd name.txt'")
	s.Type("\r")
	s.WaitFor("words inside")
	leave(t, s)
}

// The menu of / begins with what is used most, has each command once, and ends with what cannot be
// done now; what is typed finds whole words before parts of them.
func TestTheSlashMenuSuggestsFirstAndHasEachCommandOnce(t *testing.T) {
	t.Parallel()
	h, _ := homeWith(t)
	s := h.open()
	s.Type("/")
	s.WaitFor("▸ /")
	var names []string
	seen, off := map[string]bool{}, false
	for range 40 {
		for _, line := range strings.Split(s.Settle(), "\n") {
			_, entry, ok := strings.Cut(line, "│▸ /")
			if !ok {
				if _, entry, ok = strings.Cut(line, "│  /"); !ok {
					continue
				}
			}
			entry, _, _ = strings.Cut(entry, "│")
			name := strings.Fields(entry)[0]
			if seen[name] {
				continue // it stood in the window before
			}
			seen[name], names = true, append(names, name)
			cannot := strings.Contains(entry, "not now:")
			if off && !cannot {
				t.Errorf("/%s can be done and stands behind what cannot", name)
			}
			off = off || cannot
		}
		s.Type(strings.Repeat("\x1b[B", 4))
	}
	if len(names) < 40 || !off || !slices.Contains(names[:8], "new") || !slices.Contains(names[:8], "model") || slices.Contains(names[:12], "attach") {
		t.Errorf("%d commands, disabled ones %v, the first %q", len(names), off, names[:min(len(names), 12)])
	}
	for _, other := range []string{"sessions", "models", "setup", "cost", "skin"} { // other names of commands that are there
		if seen[other] {
			t.Errorf("/%s is an entry of its own", other)
		}
	}
	s.Type("\x15/mo")
	p := s.WaitFor("▸ /mo")
	if _, list, _ := strings.Cut(p, "▸ /mo"); !strings.HasPrefix(list, "del") && !strings.HasPrefix(list, "use") {
		t.Errorf("whole words do not come first:\n%s", p)
	}
	leave(t, s)
}
