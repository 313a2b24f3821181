package config

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"hermes/core/clip"

	"github.com/joho/godotenv"
	"go.yaml.in/yaml/v3"
)

// environment is what ${VAR} and Secret look at: the process first, then .env.
type environment struct{ process, file map[string]string }

func newEnvironment(list []string) environment {
	e := environment{process: make(map[string]string, len(list)), file: map[string]string{}}
	for _, pair := range list {
		if name, value, ok := strings.Cut(pair, "="); ok {
			e.process[name] = value
		}
	}
	return e
}

// homeFolder returns HERMES_HOME, else ~/.hermes, else "" when there is no home folder at all.
func (e environment) homeFolder() string {
	if h := e.process["HERMES_HOME"]; h != "" {
		return h
	}
	h := e.process["HOME"]
	if h == "" {
		h, _ = os.UserHomeDir()
	}
	if h == "" {
		return ""
	}
	return filepath.Join(h, ".hermes")
}

// lookupSet treats an empty variable as unset: a child of a shell script often has them.
func (e environment) lookupSet(name string) (string, bool) {
	if v := e.process[name]; v != "" {
		return v, true
	}
	v := e.file[name]
	return v, v != ""
}

// expandText replaces each ${NAME} that is set. It reports whether anything was replaced. What was
// inserted is not looked at again.
func (e environment) expandText(text string) (string, bool) {
	if !strings.Contains(text, "${") {
		return text, false
	}
	var b strings.Builder
	replaced := false
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found || b.Len() > maxValue {
			return b.String(), replaced
		}
		name, after, closed := strings.Cut(rest, "}")
		value, set := "", false
		if closed && isName(name) {
			value, set = e.lookupSet(name)
		}
		if !set {
			b.WriteString("${")
			text = rest
			continue
		}
		b.WriteString(value)
		replaced = true
		text = after
	}
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// readDotenv parses .env. One bad line costs that line only, and puts its setting in doubt.
func (c *Config) readDotenv(path string) (map[string]string, []Problem) {
	data, problems := readFile(path, ".env")
	if data == nil {
		for _, p := range problems {
			c.markUnread("", p)
		}
		return map[string]string{}, problems
	}
	if values, err := parseDotenv(data); err == nil {
		return values, problems
	}
	values := map[string]string{}
	for n, line := range strings.Split(string(data), "\n") {
		one, err := parseDotenv([]byte(line + "\n"))
		if err != nil {
			name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
			p := Problem{
				File: ".env", Line: n + 1, Column: 1, Text: clip.Runes(name, 60, "…"), Why: "not a NAME=value line:",
				Fix: "quote a value that holds spaces, # or quotes",
			}
			problems = append(problems, p)
			eachVariable(func(variable, key string) {
				if variable == strings.TrimSpace(name) {
					c.markUnread(key, p)
				}
			})
			continue
		}
		maps.Copy(values, one)
	}
	return values, problems
}

func parseDotenv(data []byte) (values map[string]string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errDotenv
		}
	}()
	return godotenv.UnmarshalBytes(data)
}

// special names variables that other programs know too, or that people will guess. OPENAI_BASE_URL
// is not among them: it is the address of the provider "openai" and goes with that one's key (see
// provider.Settings.WithEnv).
var special = map[string]string{
	"HERMES_MODEL":     "model.default",
	"HERMES_PROVIDER":  "model.provider",
	"HERMES_THEME":     "display.theme",
	"HERMES_LOG_LEVEL": "logging.level",
	"TERMINAL_ENV":     "terminal.backend",

	"HERMES_ALLOW_PRIVATE_URLS": "security.allow_private_urls",
	"HERMES_ALLOW_TUN_FAKEIP":   "security.allow_tun_fakeip",
}

// overlayVariables takes settings from variables.
func (d *decoder) overlayVariables(get func(string) string) {
	eachVariable(func(name, key string) {
		if value := get(name); value != "" {
			d.assignText(key, value, name)
		}
	})
}

// eachVariable names the variables that stand for settings: HERMES_<SECTION>_<KEY>, TERMINAL_<KEY>,
// and the special ones.
func eachVariable(do func(name, key string)) {
	for _, k := range Schema() {
		if strings.Contains(k.Name, "<") || k.Type == "mapping" || k.Secret {
			continue
		}
		upper := strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
		do("HERMES_"+upper, k.Name)
		if strings.HasPrefix(k.Name, "terminal.") {
			do(upper, k.Name)
		}
	}
	for _, name := range sortedKeys(special) {
		do(name, special[name])
	}
}

// assignText sets one key from a text that stands in no file. name says in problems where it was.
func (d *decoder) assignText(key, text, name string) {
	path, f, ok := resolveKey(configType, key)
	if !ok {
		d.noteProblem(nil, name, "unknown key", suggestKey(key))
		return
	}
	d.from = name + "="
	d.decodeSection(d.root, wrapInKeys(path, valueNode(f, text)), "")
	d.from = ""
}

// wrapInKeys puts n below a path of keys.
func wrapInKeys(path []string, n *yaml.Node) *yaml.Node {
	for i := len(path) - 1; i >= 0; i-- {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[i]}
		n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, n}}
	}
	return n
}

// valueNode is text as a YAML value of f: lists may be written a,b or [a, b].
func valueNode(f field, text string) *yaml.Node {
	kind := f.typ.Kind()
	plain := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch {
	case kind == reflect.Slice && !strings.HasPrefix(strings.TrimSpace(text), "["):
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range strings.Split(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: item})
			}
		}
		return list
	case kind == reflect.Slice, kind == reflect.Map, kind == reflect.Struct && strings.HasPrefix(strings.TrimSpace(text), "{"):
		if root, _, err := parseWhole("", []byte(text)); err == nil && root != nil {
			dropPlaces(root)
			return root
		}
		return plain
	default:
		return plain
	}
}

// dropPlaces takes line numbers away that mean nothing outside of a file.
func dropPlaces(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		dropPlaces(c)
	}
}
