package program

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A key that was typed for one server is not sent to another one whose address is given later.
func TestSetupSendsAKeyToItsServerOnly(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	heard := map[string]string{} // what each server was sent as a key, by its address
	address := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lock.Lock()
			heard["http://"+r.Host] += " " + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
			lock.Unlock()
			http.Error(w, `{"error": {"message": "no such key"}}`, http.StatusUnauthorized)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	first, second := address(), address()
	x := startTmux(t)
	x.typed("hermes setup")
	x.keys("Enter")
	answer := func(server []string, at, key, model string) {
		x.shows("Which model server?")
		x.keys(append(server, "Enter")...)
		x.shows("Its address")
		x.keys("C-u")
		x.typed(at)
		x.keys("Enter")
		x.shows("Your key")
		x.typed(key)
		x.keys("Enter")
		x.shows("Model")
		x.typed(model)
		x.keys("Enter")
		x.shows("Theme")
		x.keys("Enter")
		x.shows("It does not work yet")
	}
	answer([]string{"End", "Up"}, first, "sk-first-1234567", "some-model")
	x.keys("Enter")
	answer(nil, second, "", "")
	x.keys("Down", "Enter")
	x.shows("setup stopped; nothing was changed")
	lock.Lock()
	defer lock.Unlock()
	if !strings.Contains(heard[first], "sk-first-1234567") || heard[second] == "" || strings.Contains(heard[second], "sk-first") {
		t.Errorf("%v", heard)
	}
}

// What is asked stands above the list of servers on a small terminal too.
func TestSetupFitsASmallTerminal(t *testing.T) {
	t.Parallel()
	x := startTmux(t)
	x.do("resize-window", "-x", "80", "-y", "24")
	x.typed("hermes setup")
	x.keys("Enter")
	x.shows("openai")
	x.shows("Which model server?")
	x.keys("End")
	x.shows("> none: try the workbench without a model")
	x.shows("Which model server?")
}
