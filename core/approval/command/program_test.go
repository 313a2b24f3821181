package command

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"hermes/core/shelltext"
)

// Roles that handlers or the judge itself read.
const plainRoles = "flag value code show module warning xoption jit bytecode command stdin noexec first text also shell-text restarts program program-file include"

// TestProgramFiles reads every entry as its author may get it wrong: unknown keys, roles, handlers
// and effects, options that are none or stand there twice, names that two entries share.
func TestProgramFiles(t *testing.T) {
	allHandlers() // makes the tables of roles and handlers
	all := allEntries()
	files, err := fs.Glob(programFiles, "programs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	names := map[string]string{}
	for _, of := range handlerFamilies() {
		for list := range of {
			for name := range strings.FieldsSeq(list) {
				names[name] = "the code"
			}
		}
	}
	for _, file := range files {
		text, err := programFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string][]*program{}
		dec := yaml.NewDecoder(bytes.NewReader(text))
		dec.KnownFields(true)
		if err := dec.Decode(&of); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for kind, list := range of {
			if !isOneOf("interpreters shells editors wrappers tools programs readers git variables python-modules", kind) {
				t.Errorf("%s: %s is no kind of program", file, kind)
			}
			for _, p := range list {
				for name := range strings.FieldsSeq(p.Names) {
					if isOneOf("git variables python-modules", kind) {
						name = kind + " " + name
					}
					if names[name] != "" {
						t.Errorf("%s: %s stands in %s already", file, name, names[name])
					}
					names[name] = file
				}
				checkProgram(t, file+": "+p.Names, p)
				if !slices.ContainsFunc(all, func(e *entry) bool { return e.names == p.Names && e.kind == kind && e.readProgram().Names == p.Names }) {
					t.Errorf("%s: %s is not found as an entry of its own: its names stand on one line", file, p.Names)
				}
			}
		}
	}
}

func checkProgram(t *testing.T, at string, p *program) {
	t.Helper()
	if p.Names == "" {
		t.Errorf("%s: an entry has no names", at)
	}
	checkOptions(t, at, p.Options)
	if p.Value != "" && !isOneOf("search-path code libraries program node-options options folders compiler prompt history address less settings settings-or-temporary", p.Value) {
		t.Errorf("%s: %q is nothing that a variable holds", at, p.Value)
	}
	if p.Handler != "" && table.handlers[p.Handler] == nil {
		t.Errorf("%s: there is no handler %q", at, p.Handler)
	}
	for _, effect := range []string{p.Does, p.Alone, p.Else} {
		checkEffect(t, at, effect)
	}
	if p.Decodes != "always" {
		checkOptions(t, at, map[string]string{"flag": p.Decodes})
	}
	for _, r := range p.When {
		checkEffect(t, at, r.Does)
		checkOptions(t, at, map[string]string{"flag": r.Options})
	}
	roles := []string{p.Operands}
	for i := range p.Verbs {
		v := p.Verbs[i]
		checkEffect(t, at+" "+v.Words, v.Does)
		checkOptions(t, at+" "+v.Words, v.Options)
		roles = append(roles, v.Then)
		for word := range strings.FieldsSeq(v.Words) {
			if slices.ContainsFunc(p.Verbs[:i], func(o *verb) bool { return isOneOf(o.Words, word) }) {
				t.Errorf("%s: the verb %s stands there twice", at, word)
			}
		}
	}
	for _, role := range roles {
		if role != "" && role != "none" && table.operands[role] == nil {
			t.Errorf("%s: there is no role of operands %q", at, role)
		}
	}
}

func checkEffect(t *testing.T, at, effect string) {
	t.Helper()
	if effect != "" {
		if _, err := readEffect(effect); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func checkOptions(t *testing.T, at string, options map[string]string) {
	t.Helper()
	seen := map[string]bool{}
	for role, list := range options {
		if table.options[role] == nil && !isOneOf(plainRoles, role) {
			t.Errorf("%s: there is no role of options %q", at, role)
		}
		for token := range strings.FieldsSeq(list) {
			r, ok := shelltext.ReadRule(token, role)
			if !ok {
				t.Errorf("%s: %q is no option", at, token)
			}
			if seen[r.Option] {
				t.Errorf("%s: the option %s stands there twice", at, r.Option)
			}
			seen[r.Option] = true
		}
	}
}
