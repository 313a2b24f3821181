package procedure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hermes/core/clip"

	"github.com/expr-lang/expr/vm"
)

// Bounds of what texts become.
const (
	maxRendered = 256 << 10
	maxLoops    = 10_000
)

// scope is what values mean at one moment of a run.
type scope struct {
	vars  map[string]any
	items []any // of the blocks around, the innermost last
	at    int
	loops *int
}

func newScope(vars map[string]any) scope { return scope{vars: vars, loops: new(int)} }

// findValue returns a value, nil when there is none.
func (s scope) findValue(path []string, dollar bool) any {
	root := path[0]
	switch {
	case root == "this" && len(s.items) > 0:
		return valueAt(s.items[len(s.items)-1], path[1:])
	case root == "@index":
		return s.at
	}
	for i := len(s.items) - 1; i >= 0 && !dollar; i-- {
		if m, ok := s.items[i].(map[string]any); ok && hasKey(m, root) {
			return valueAt(m[root], path[1:])
		}
	}
	return valueAt(s.vars[root], path[1:])
}

func valueAt(v any, path []string) any {
	for _, key := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// asText is a value as people read it.
func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		if !slices.ContainsFunc(v, func(x any) bool { k := reflect.ValueOf(x).Kind(); return k == reflect.Map || k == reflect.Slice }) {
			var words []string
			for _, x := range v {
				words = append(words, asText(x))
			}
			return strings.Join(words, ", ")
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.Trim(string(data), `"`)
}

func isTruthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != "" && v != "false"
	case float64:
		return v != 0
	case int:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	default:
		return true
	}
}

// renderText fills a text in.
func (t *Text) renderText(s scope) (string, error) {
	var b strings.Builder
	err := fillNodes(&b, t.nodes, s)
	return b.String(), err
}

func fillNodes(b *strings.Builder, nodes []node, s scope) error {
	for _, n := range nodes {
		if b.Len() > maxRendered {
			return fmt.Errorf("the text grows beyond %d bytes", maxRendered)
		}
		var err error
		switch n.block {
		case "":
			if n.path == nil {
				b.WriteString(n.text)
			} else {
				b.WriteString(asText(s.findValue(n.path, n.dollar)))
			}
		case "each":
			err = fillEach(b, n, s)
		default:
			chosen := n.body
			if isTruthy(s.findValue(n.path, false)) == (n.block == "unless") {
				chosen = n.other
			}
			err = fillNodes(b, chosen, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func fillEach(b *strings.Builder, n node, s scope) error {
	list, _ := s.findValue(n.path, false).([]any)
	if len(list) == 0 {
		return fillNodes(b, n.other, s)
	}
	for i, item := range list {
		if *s.loops++; *s.loops > maxLoops {
			return fmt.Errorf("{{#each}} goes through more than %d items", maxLoops)
		}
		inner := s
		inner.items, inner.at = append(slices.Clone(s.items), item), i
		if err := fillNodes(b, n.body, inner); err != nil {
			return err
		}
	}
	return nil
}

// resolveTree fills in a tree of values: a text that is one value alone becomes that value.
func resolveTree(v any, s scope) (any, error) {
	switch v := v.(type) {
	case *Text:
		if v == nil {
			return nil, nil
		}
		if len(v.nodes) == 1 && v.nodes[0].path != nil && v.nodes[0].block == "" {
			return s.findValue(v.nodes[0].path, v.nodes[0].dollar), nil
		}
		return v.renderText(s)
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			x, err := resolveTree(v[k], s)
			if err != nil {
				return nil, err
			}
			out[k] = x
		}
		return out, nil
	case []any:
		out := []any{}
		for _, item := range v {
			x, err := resolveTree(item, s)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	default:
		return v, nil
	}
}

// renderCommand fills a command in, with each value as one word of the shell. What is not there yet
// stays as it is written when open is set: for a plan.
func (t *Text) renderCommand(s scope, open bool) (string, error) {
	var b strings.Builder
	in := quoting{}
	for _, n := range t.nodes {
		if n.path == nil {
			in.followQuotes(n.text)
			b.WriteString(n.text)
			continue
		}
		name := strings.Join(n.path, ".")
		v := s.findValue(n.path, n.dollar)
		switch {
		case v == nil && open:
			b.WriteString("{{" + name + "}}")
			continue
		case v == nil:
			return "", fmt.Errorf("%s has no value", name)
		}
		word, err := in.quoteValue(v)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		b.WriteString(word)
	}
	return b.String(), nil
}

// quoting follows how the shell reads a text.
type quoting struct {
	state  byte // 0, ' or "
	nested bool // inside of $(...), `...` or behind <<, where quotes mean something else
}

func (q *quoting) followQuotes(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && q.state != '\'':
			i++
		case q.state == 0 && (c == '\'' || c == '"'):
			q.state = c
		case q.state == c && c != 0:
			q.state = 0
		case c == '`', q.state != '\'' && strings.HasPrefix(text[i:], "$("), strings.HasPrefix(text[i:], "<<"):
			q.nested = true
		}
	}
}

func (q *quoting) quoteValue(v any) (string, error) {
	if list, ok := v.([]any); ok && q.state == 0 {
		var words []string
		for _, x := range list {
			w, err := q.quoteValue(asText(x))
			if err != nil {
				return "", err
			}
			words = append(words, w)
		}
		return strings.Join(words, " "), nil
	}
	text := asText(v)
	switch {
	case plainWord().MatchString(text):
		return text, nil
	case strings.ContainsRune(text, 0):
		return "", errors.New("a value with NUL cannot stand in a command")
	case q.nested:
		return "", fmt.Errorf("%q has signs that the shell may read here; write the value outside of $(...), `...` and <<", clip.Runes(text, 60, "…"))
	case q.state == '\'':
		return strings.ReplaceAll(text, "'", `'\''`), nil
	case q.state == '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text), nil
	default:
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'", nil
	}
}

// isTrue evaluates a condition. A value that is not there makes a comparison of size untrue.
func (c *Condition) isTrue(s scope) (bool, error) {
	env := map[string]any{}
	missing := ""
	for i, path := range c.paths {
		v := s.findValue(path, true)
		if v == nil {
			missing = strings.Join(path, ".")
		}
		env[fmt.Sprintf("value%d", i)] = v
	}
	machine := vm.VM{MemoryBudget: maxMemory}
	out, err := machine.Run(c.code, env)
	switch {
	case err != nil && missing != "":
		return false, nil
	case err != nil:
		line, _, _ := strings.Cut(err.Error(), "\n")
		return false, fmt.Errorf("the condition %q: %s", clip.Runes(c.Text, 60, "…"), line)
	}
	return isTruthy(out), nil
}
