package execcode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hermes/core/tool"
)

// ours are the tools of this program that scripts may call, if the session has them.
var ours = []string{"patch", "read_file", "search_files", "terminal", "web_extract", "web_search", "write_file"}

// helpers are the functions of hermes_tools that are no tools.
var helpers = []string{"json_parse", "retry", "shell_quote"}

// callableTools picks from tools what scripts may call, by name: those, and foreign tools whose
// names and schemas make functions.
func callableTools(tools []tool.Spec) []tool.Spec {
	var out []tool.Spec
	for _, t := range tools {
		_, err := schemaParams(t)
		if foreign := err == nil && isUsableName(t.Name) && !slices.Contains(helpers, t.Name); t.Owner == "" && slices.Contains(ours, t.Name) || t.Owner != "" && foreign {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b tool.Spec) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// functionNotes say in a line what a function does and returns: descriptions of tools are for
// models, and describe text.
func functionNotes(name string) (does, returns string) {
	switch name {
	case "web_search":
		return "Search the web.", `{"data": {"web": [{"url", "title", "description"}, ...]}}`
	case "web_extract":
		return "Fetch pages as Markdown.", `{"results": [{"url", "title", "content", "error"}, ...]}`
	case "read_file":
		return "Read a text file: all of it, unless offset and limit name lines.", `{"path", "content", "offset", "lines", "total_lines", "truncated"}; content is the text of the file, without line numbers`
	case "write_file":
		return "Write a whole file; parent folders are made.", `{"success": True, "path", "bytes_written", "added", "removed"}`
	case "search_files":
		return "Search in files, or find files by name (target=\"files\").", `{"matches": [{"path", "line", "content"}, ...], "count", "truncated"}; only "path" when files are looked for`
	case "patch":
		return "Replace old_string by new_string in path, or apply a V4A patch (mode=\"patch\").", `{"success": True, "added", "removed"}`
	case "terminal":
		return "Run a shell command to its end.", `{"output", "exit_code", "backend"}`
	}
	return "", "what the tool gives, as a dict"
}

// param is one parameter of a generated function.
type param struct {
	name, kind, def, doc string
	required             bool
}

// schemaParams are the properties of a tool's schema: what is required first, then the others, in
// the schema's order.
func schemaParams(s tool.Spec) ([]param, error) {
	var schema struct {
		Required   []string        `json:"required"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, err
	}
	if len(schema.Properties) == 0 {
		return nil, nil
	}
	var first, rest []param
	d := json.NewDecoder(bytes.NewReader(schema.Properties))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var p struct {
			Type        any             `json:"type"`
			Default     json.RawMessage `json:"default"`
			Description string          `json:"description"`
			Enum        []any           `json:"enum"`
		}
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if !isUsableName(name) || s.Name == "terminal" && slices.Contains(notInScripts, name) {
			continue
		}
		x := param{name: name, kind: pythonType(p.Type), def: pythonLiteral(p.Default), doc: p.Description, required: slices.Contains(schema.Required, name)}
		if len(p.Enum) > 0 {
			x.doc = strings.TrimSpace("one of " + oneOf(p.Enum) + ". " + x.doc)
		}
		switch {
		case x.required:
			first = append(first, x)
			continue
		case s.Name == "read_file" && name == "limit": // for programs there is none
			x.def = "None"
		}
		rest = append(rest, x)
	}
	return append(first, rest...), nil
}

func oneOf(values []any) string {
	var parts []string
	for _, v := range values {
		raw, _ := json.Marshal(v)
		parts = append(parts, string(raw))
	}
	return strings.Join(parts, ", ")
}

func isUsableName(name string) bool {
	words := []string{
		"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
		"from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
	}
	ok, _ := regexp.MatchString(`^[a-zA-Z][a-zA-Z0-9_]*$`, name)
	return ok && !slices.Contains(words, name)
}

func pythonType(t any) string {
	name, _ := t.(string)
	if k, ok := map[string]string{
		"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
	}[name]; ok {
		return k
	}
	return "object"
}

// pythonLiteral writes a JSON value as Python. Only plain ones make a default; for others leaving
// it out is the same.
func pythonLiteral(raw json.RawMessage) string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return "None"
	}
	switch v := v.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64, string:
		return string(bytes.TrimSpace(raw))
	}
	return "None"
}

// pythonSignature is how a function is called: "read_file(path: str, offset: int = 1, limit: int =
// None) -> dict".
func pythonSignature(name string, ps []param) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = p.name + ": " + p.kind
		if !p.required {
			parts[i] += " = " + p.def
		}
	}
	return name + "(" + strings.Join(parts, ", ") + ") -> dict"
}

// Signatures are those of the functions that a script finds in hermes_tools when a session has
// these tools.
func Signatures(tools []tool.Spec) []string {
	var out []string
	for _, t := range callableTools(tools) {
		if ps, err := schemaParams(t); err == nil {
			out = append(out, pythonSignature(t.Name, ps))
		}
	}
	return out
}

// stubModule is the module hermes_tools for these tools.
func stubModule(tools []tool.Spec) (string, error) {
	var b strings.Builder
	b.WriteString(stubHead)
	names := slices.Clone(helpers)
	for _, t := range tools {
		ps, err := schemaParams(t)
		if err != nil {
			return "", fmt.Errorf("the schema of %s: %w", t.Name, err)
		}
		names = append(names, t.Name)
		writeFunction(&b, t, ps)
	}
	fmt.Fprintf(&b, missingTools, quoteAll(ours))
	fmt.Fprintf(&b, "\n__all__ = %s\n", quoteAll(names))
	return b.String(), nil
}

func writeFunction(b *strings.Builder, t tool.Spec, ps []param) {
	does, returns := functionNotes(t.Name)
	if does == "" {
		does, _, _ = strings.Cut(t.Description, "\n")
	}
	fmt.Fprintf(b, "\ndef %s:\n    %s\n    return _call(%q, {", pythonSignature(t.Name, ps), pythonDocstring(does, returns, ps), t.Name)
	for _, p := range ps {
		fmt.Fprintf(b, "%q: %s, ", p.name, p.name)
	}
	b.WriteString("}, {")
	for _, p := range ps {
		if !p.required && p.def != "None" {
			fmt.Fprintf(b, "%q: %s, ", p.name, p.def)
		}
	}
	b.WriteString("})\n")
}

// pythonDocstring is one literal of JSON, which is one of Python too: no text can end it early.
func pythonDocstring(does, returns string, ps []param) string {
	text := does + "\n"
	for _, p := range ps {
		if p.doc != "" {
			text += "\n    " + p.name + ": " + p.doc
		}
	}
	text += "\n\n    Returns " + returns + ". A failure is {\"error\": text}."
	raw, _ := json.Marshal(text) // a string always marshals
	return string(raw)
}

func quoteAll(names []string) string {
	raw, _ := json.Marshal(names)
	return string(raw)
}

// missingTools lets a script import what its session has not: an import that fails would end it.
const missingTools = `
def __getattr__(name):
    if name not in %s:
        raise AttributeError(name)
    return lambda *args, **kwargs: {"error": name + " is not among the tools of this session: it is switched off, or what it needs is missing"}
`

const stubHead = `"""The agent's tools as functions. Results are dicts; a call that failed gives {"error": text} and raises nothing."""
from __future__ import annotations


def json_parse(text):
    """json.loads that takes control characters inside of strings, as command output has them."""
    import json
    return json.loads(text, strict=False)


def shell_quote(text):
    """Quotes a value for a command of terminal()."""
    import shlex
    return shlex.quote(str(text))


def retry(function, max_attempts=3, delay=2):
    """Calls function() until it raises nothing, max_attempts times, waiting delay seconds, then twice as long, and so on."""
    import time
    for attempt in range(max(1, max_attempts)):
        try:
            return function()
        except Exception:
            if attempt >= max_attempts - 1:
                raise
            time.sleep(delay * 2 ** attempt)

`
