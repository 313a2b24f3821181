package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hermes/core/clip"
	"hermes/core/yamlfault"
)

// parsed is a YAML file as mappings. A file with an error in one block gives the other top-level
// blocks, one mapping each.
type parsed struct {
	roots    []*yaml.Node
	problems []Problem
	broken   bool    // some of it could not be parsed
	lost     []doubt // what could not be read: top-level keys, or "" for anything
}

// parse never fails and never panics, whatever data is.
func parse(name string, data []byte) parsed {
	root, problems, err := parseWhole(name, data)
	if err == nil {
		return parsedRoot(name, root, problems)
	}
	out := parsed{broken: true}
	for _, b := range cutBlocks(data) {
		root, _, err := parseWhole(name, b.text)
		if err != nil {
			p := syntaxProblem(name, b, err)
			out.problems = append(out.problems, p)
			out.lost = append(out.lost, lostBlock(b, p)...)
			continue
		}
		if root != nil {
			shiftLines(root, b.line-1)
			one := parsedRoot(name, root, nil)
			out.roots = append(out.roots, one.roots...)
			out.problems = append(out.problems, one.problems...)
			out.lost = append(out.lost, one.lost...)
		}
	}
	if len(out.problems) == 0 {
		// Each block is fine alone: the error is between them.
		p := syntaxProblem(name, block{line: 1, text: data}, err)
		out.problems, out.lost = []Problem{p}, []doubt{{"", p}}
	}
	return out
}

var blockKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["']?([A-Za-z][\w.-]*)["']?[ \t]*:`) })

// lostBlock says which settings a block that cannot be parsed may have held: those of its key, or
// of any key if it shows none.
func lostBlock(b block, why Problem) []doubt {
	m := blockKey().FindSubmatch(b.text)
	if m == nil {
		return []doubt{{"", why}}
	}
	key := string(m[1])
	if f, ok := fieldOf(configType, key); ok {
		return []doubt{{f.name, why}}
	}
	var out []doubt
	if !belongsToPython(configType.Name(), key) {
		for _, path := range meantSettings(configType, key, "") {
			out = append(out, doubt{path, why})
		}
	}
	return out
}

func parsedRoot(name string, root *yaml.Node, problems []Problem) parsed {
	switch {
	case root == nil || isNull(root):
		return parsed{problems: problems, lost: doubtAll(problems)}
	case root.Kind != yaml.MappingNode:
		problems = append(problems, Problem{
			File: name, Line: root.Line, Column: root.Column, Text: clip.Runes(root.Value, 60, "…"),
			Why: "expected lines like key: value, found " + kindName(root),
		})
		return parsed{broken: true, problems: problems, lost: doubtAll(problems)}
	default:
		return parsed{roots: []*yaml.Node{root}, problems: problems, lost: doubtAll(problems)}
	}
}

// doubtAll says that the problems may hide any setting.
func doubtAll(problems []Problem) (out []doubt) {
	for _, p := range problems {
		out = append(out, doubt{"", p})
	}
	return out
}

// parseWhole returns the first document of data, nil when there is none.
func parseWhole(name string, data []byte) (root *yaml.Node, problems []Problem, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser's own bug must not stop the program from opening
			root, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		problems = append(problems, Problem{
			File: name, Line: next.Line, Column: next.Column, Why: "more follows after a line ---", Fix: "keep one document; the first one counts",
		})
	}
	if len(doc.Content) == 0 {
		return nil, problems, nil
	}
	return doc.Content[0], problems, nil
}

// block is a run of lines that begins with a key in the first column.
type block struct {
	line int // of its first line in the file
	text []byte
}

// cutBlocks cuts a file at lines that begin in the first column, so that one broken block spares
// the others.
func cutBlocks(data []byte) []block {
	var out []block
	for n, line := range bytes.SplitAfter(data, []byte("\n")) {
		first := byte('\n')
		if len(line) > 0 {
			first = line[0]
		}
		starts := !strings.ContainsRune(" \t\r\n#-]}", rune(first))
		if starts || len(out) == 0 {
			out = append(out, block{line: n + 1})
		}
		last := &out[len(out)-1]
		last.text = append(last.text, line...)
	}
	return out
}

func shiftLines(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shiftLines(c, lines)
	}
}

// syntaxProblem says in plain words what the parser found, and where.
func syntaxProblem(name string, b block, err error) Problem {
	at := yamlfault.Find(b.text, err)
	p := Problem{File: name, Line: b.line + at.Line - 1, Column: at.Column, Why: at.Why, Fix: at.Fix, Text: clip.Runes(at.Text, 60, "…")}
	if at.Column == 0 && secretLine(p.Text) {
		p.Text, _, _ = strings.Cut(p.Text, ":")
	}
	return p
}

func secretLine(text string) bool {
	key, _, _ := strings.Cut(strings.ToLower(text), ":")
	return strings.Contains(key, "key") || strings.Contains(key, "token") || strings.Contains(key, "secret") || strings.Contains(key, "password")
}
