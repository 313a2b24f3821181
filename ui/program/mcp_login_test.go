package program

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/mcp/authtest"
)

// nothing is a tool that does nothing.
func nothing(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
	return &sdk.CallToolResult{}, nil, nil
}

// shownAddress is the address of a login as it stands on the screen, over several lines.
func shownAddress(t *testing.T, picture string) string {
	t.Helper()
	lines := strings.Split(picture, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "│http") })
	if at < 0 {
		t.Fatalf("no address is shown: %s", picture)
	}
	before, _, _ := strings.Cut(lines[at], "http")
	column := utf8.RuneCountInString(before)
	address := ""
	for _, l := range lines[at:] {
		line, _, _ := strings.Cut(string([]rune(l)[column:]), "│")
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		address += line
	}
	return address
}

// browse opens an address as a browser does; where it cannot come back, it returns where it was
// led.
func browse(t *testing.T, address string, far bool) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	if far {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.Header.Get("Location")
}

// A person logs in to a server from the screen, by a browser that comes back and by one that
// cannot. The login is theirs only, and of several programs that find it over one renews it for
// all.
func TestLoginFromTheScreen(t *testing.T) {
	t.Parallel()
	for name, far := range map[string]bool{"the browser comes back": false, "the address is pasted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, nil)
			sdk.AddTool(server, &sdk.Tool{Name: "find", Description: "Finds pages."}, nothing)
			a := authtest.New(t, server)
			h := newHome(t, "")
			h.configure("mcp_servers: {docs: {url: \"" + a.MCP() + "\"}}\n")
			s := h.open()
			say(s, "/mcp")
			s.WaitFor("needs login")
			s.Type("a")
			address := shownAddress(t, s.WaitFor("paste it here"))
			led := browse(t, address, far)
			if far {
				s.Type(led)
				s.WaitFor("state=")
				s.Type(enter)
			}
			s.WaitFor("ready  1 tool")
			s.Type(esc)
			leave(t, s)

			file := filepath.Join(h.dir, "mcp-tokens", "docs.json")
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("%v %v", info, err)
			}
			age(t, file)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if r := h.run("mcp", "test", "docs"); r.code != 0 {
						t.Errorf("%+v", r)
					}
				})
			}
			all.Wait()
			if n := a.Renewals(); n != 1 {
				t.Errorf("%d renewals", n)
			}
		})
	}
}

// age makes a login one that is over.
func age(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	var kept map[string]any
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept["token"].(map[string]any)["expiry"] = time.Unix(1, 0)
	if data, err = json.Marshal(kept); err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
