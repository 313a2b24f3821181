// Command gofmt is a plugin of Hermes in Go's standard library: two hooks. Build it beside its
// manifest with `go build -o gofmt main.go`.
//
// A hook is a tool that the manifest names. Its arguments are what a hook of the settings reads
// from standard input, its text is what such a hook prints: docs/hooks.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
)

// event is what of an event the hooks read.
type event struct {
	Cwd  string `json:"cwd"`
	Tool struct {
		Path string `json:"path"`
	} `json:"tool_input"`
	Result struct {
		Failed bool `json:"is_error"`
	} `json:"tool_response"`
}

func (e event) path() string {
	path := e.Tool.Path
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(os.Getenv("HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.Cwd, path)
	}
	return path
}

// guard says no to files that a program writes.
func guard(e event) (map[string]string, error) {
	data, err := os.ReadFile(e.path())
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if err != nil || !strings.HasSuffix(e.path(), ".go") || !bytes.Contains(first, []byte("DO NOT EDIT")) {
		return nil, nil // a file that is not there yet is none
	}
	return map[string]string{"decision": "block", "reason": filepath.Base(e.path()) + " is generated: change what generates it"}, nil
}

// formatFile formats the file that was written.
func formatFile(e event) (map[string]string, error) {
	if !strings.HasSuffix(e.path(), ".go") || e.Result.Failed {
		return nil, nil
	}
	before, err := os.ReadFile(e.path())
	if err != nil {
		return nil, err
	}
	after, err := format.Source(before)
	if err != nil { // the agent mends it
		return map[string]string{"context": "gofmt: " + err.Error()}, nil
	}
	if bytes.Equal(before, after) {
		return nil, nil
	}
	said := map[string]string{"context": "gofmt changed " + filepath.Base(e.path()) + ": read it again before you edit it"}
	return said, os.WriteFile(e.path(), after, 0o644)
}

var hooks = map[string]func(event) (map[string]string, error){"guard": guard, "format": formatFile}

// answer is the result of a request of the protocol.
func answer(method string, params json.RawMessage) any {
	type object = map[string]any
	switch method {
	case "initialize":
		var p struct{ ProtocolVersion string }
		_ = json.Unmarshal(params, &p)
		return object{
			"protocolVersion": p.ProtocolVersion, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "gofmt", "version": "1.0.0"},
		}
	case "tools/list":
		var tools []object
		for name := range hooks {
			tools = append(tools, object{"name": name, "description": "the hook " + name, "inputSchema": object{"type": "object"}})
		}
		return object{"tools": tools}
	case "tools/call":
		text, err := call(params)
		if err != nil {
			text = err.Error()
		}
		return object{"content": []object{{"type": "text", "text": text}}, "isError": err != nil}
	}
	return object{}
}

func call(params json.RawMessage) (string, error) {
	var p struct {
		Name      string
		Arguments event
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", err
	}
	hook := hooks[p.Name]
	if hook == nil {
		return "", fmt.Errorf("there is no hook %q", p.Name)
	}
	said, err := hook(p.Arguments)
	if err != nil || said == nil {
		return "", err
	}
	out, err := json.Marshal(said)
	return string(out), err
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var m struct {
			ID     *json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil || m.Method == "" { // the rest are notifications
			continue
		}
		_ = out.Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": answer(m.Method, m.Params)})
	}
}
