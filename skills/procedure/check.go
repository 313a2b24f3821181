package procedure

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hermes/core/clip"
	"hermes/core/nearest"
)

//go:embed checks.yaml
var checksFile []byte

// namedChecks are the commands of the short shape.
var namedChecks = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	if err := yaml.Unmarshal(checksFile, &out); err != nil {
		panic(err) // part of the program
	}
	return out
})

// readChecks reads both shapes: "- docker_installed: true" and "- type: file_exists".
func (r *reader) readChecks(dst *[]Check) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		r.eachItem(key, v, func(key string, item *yaml.Node) {
			if item.Kind == yaml.MappingNode && slices.ContainsFunc(item.Content, func(n *yaml.Node) bool { return n.Value == "type" }) {
				*dst = append(*dst, r.typedCheck(key, item))
				return
			}
			r.eachPair(key, item, func(full string, k, v *yaml.Node) {
				c := Check{Name: k.Value, Want: true, Line: k.Line}
				r.readBool(&c.Want)(full, v)
				command, ok := checkCommand(k.Value)
				if !ok {
					r.addFault(k.Line, full, "there is no check of that name", meantCheck(k.Value))
					return
				}
				r.takeCheck(full, &c, command)
				*dst = append(*dst, c)
			})
		})
	}
}

// checkCommand is the command of a named check: one of the file, or NAME_installed.
func checkCommand(name string) (string, bool) {
	if c, ok := namedChecks()[name]; ok {
		return c, true
	}
	program, ok := strings.CutSuffix(name, "_installed")
	if !ok || !isKeyName(program) {
		return "", false
	}
	return "command -v " + program, true
}

func meantCheck(name string) string {
	if near, ok := nearest.Name(name, append(slices.Sorted(maps.Keys(namedChecks())), "type")); ok {
		return "did you mean " + near + "?"
	}
	return "write - type: command, command: and a command that ends with 0 when it is true"
}

// takeCheck gives a check the command that says whether it is true.
func (r *reader) takeCheck(key string, c *Check, command string) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: command, Line: c.Line}
	c.Command = r.parseTemplate(key, n, inCommand)
	r.noteUses(key, c.Command)
}

var checkTypes = map[string]string{
	"file_exists": "path", "command_available": "command", "command": "command", "port_available": "port", "env_set": "variable",
}

func (r *reader) typedCheck(key string, n *yaml.Node) Check {
	c := Check{Want: true, Line: n.Line}
	values := map[string]string{}
	value := func(name string) func(string, *yaml.Node) {
		return func(key string, v *yaml.Node) {
			if s, ok := r.scalarText(key, v); ok {
				values[name] = s
			}
		}
	}
	r.readKeys(key, n, table{
		"type": r.readWord(&c.Name, slices.Sorted(maps.Keys(checkTypes))...), "message": r.readText(&c.Message),
		"path": value("path"), "command": value("command"), "port": value("port"), "variable": value("variable"),
	})
	wants, ok := checkTypes[c.Name]
	if !ok {
		return c
	}
	what := values[wants]
	if what == "" {
		r.addFault(n.Line, key+"."+wants, "it is missing", fmt.Sprintf("a check of type %s needs %s:", c.Name, wants))
		return c
	}
	if c.Name == "env_set" && !isKeyName(what) {
		r.addFault(n.Line, key+"."+wants, fmt.Sprintf("%q is no name of a variable", clip.Runes(what, 60, "…")), "")
		return c
	}
	command := map[string]string{
		"file_exists": "test -e " + quoteLiteral(what), "command_available": "command -v " + quoteLiteral(what), "command": what,
		"port_available": strings.ReplaceAll(namedChecks()["port_available"], "{{port}}", what), "env_set": `test -n "$` + what + `"`,
	}[c.Name]
	r.takeCheck(key+"."+wants, &c, command)
	return c
}

// quoteLiteral quotes what an author wrote, unless it holds values, which are quoted when they are
// known.
func quoteLiteral(s string) string {
	if strings.Contains(s, "{{") || plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
