package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fault is a syntax error; what is its text without the place, so that old and new faults can be
// compared.
type fault struct{ what, where string }

// newFaults returns the syntax faults that the change brought in.
func newFaults(name string, before, after []byte) []string {
	if len(after) > 1<<20 {
		return nil
	}
	had := map[string]bool{}
	for _, f := range findSyntaxErrors(name, before) {
		had[f.what] = true
	}
	var out []string
	for _, f := range findSyntaxErrors(name, after) {
		if !had[f.what] {
			out = append(out, strings.TrimPrefix(fmt.Sprintf("syntax: %s: %s", f.where, f.what), ": "))
		}
	}
	return out
}

// findSyntaxErrors checks the kinds of file for which a parser is at hand. Nothing is executed.
func findSyntaxErrors(name string, data []byte) []fault {
	if len(data) == 0 {
		return nil
	}
	body := []byte(strings.TrimPrefix(string(data), bom))
	switch filepath.Ext(name) {
	case ".json":
		if withComments(name) {
			return nil
		}
		return jsonFaults(body)
	case ".yaml", ".yml":
		return yamlFaults(body)
	case ".go":
		return goFaults(body)
	}
	return nil
}

// withComments tells the files whose readers accept comments in JSON.
func withComments(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig") || base == "devcontainer.json" ||
		filepath.Base(filepath.Dir(name)) == ".vscode"
}

func jsonFaults(data []byte) []fault {
	var v json.RawMessage
	err := json.Unmarshal(data, &v)
	var syn *json.SyntaxError
	if !errors.As(err, &syn) {
		return nil
	}
	head := string(data[:min(int(syn.Offset), len(data))])
	return []fault{{syn.Error(), fmt.Sprintf("line %d", 1+strings.Count(head, "\n"))}}
}

func yamlFaults(data []byte) []fault {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	for {
		var n yaml.Node // aliases stay unexpanded: no bomb
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			text := strings.TrimPrefix(err.Error(), "yaml: ")
			where, what, ok := strings.Cut(text, ": ")
			if !ok || !strings.HasPrefix(where, "line ") {
				return []fault{{text, "yaml"}}
			}
			return []fault{{what, where}}
		}
	}
}

func goFaults(data []byte) []fault {
	_, err := parser.ParseFile(token.NewFileSet(), "", data, parser.SkipObjectResolution)
	var all scanner.ErrorList
	if !errors.As(err, &all) {
		return nil
	}
	var out []fault
	for _, e := range all[:min(len(all), 5)] {
		out = append(out, fault{e.Msg, fmt.Sprintf("line %d", e.Pos.Line)})
	}
	return out
}
