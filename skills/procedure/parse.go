package procedure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"hermes/core/yamlfault"
	"hermes/skills"
)

// Defaults of a file that says nothing.
const (
	defaultStepTime  = 10 * time.Minute
	defaultTotalTime = time.Hour
)

// Parse reads a procedure. file names it in problems.
func Parse(file string, data []byte) *Procedure {
	r := &reader{p: &Procedure{File: file, StepTime: defaultStepTime, TotalTime: defaultTotalTime}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(data) > MaxFile:
		r.bad(1, "", fmt.Sprintf("the file has %d bytes, at most %d are read", len(data), MaxFile), "split it")
		return r.p
	case !utf8.Valid(data):
		r.bad(1, "", "the file is not UTF-8 text", "save it as UTF-8")
		return r.p
	}
	root, err := decode(data)
	if err != nil {
		at := yamlfault.Find(data, err)
		r.bad(at.Line, keyAbove(data, at.Line), fmt.Sprintf("%s: %q", at.Why, cutText(at.Text)), at.Fix)
		return r.p
	}
	if root == nil || root.Kind != yaml.MappingNode {
		r.bad(1, "skill", "a procedure begins with the line skill:", "write skill: and name:, description: and execution: below it")
		return r.p
	}
	given := r.keys("", root, table{"skill": r.skill})
	if !given["skill"] {
		r.bad(1, "skill", "it is missing", "begin with the line skill:")
	}
	return r.p
}

// decode reads one document without the parser's panics.
func decode(data []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	if err := d.Decode(&next); err == nil {
		return nil, fmt.Errorf("yaml: line %d: a second document begins here; keep one", max(next.Line, 1))
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var keyLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s-]*"?([\p{L}_][\p{L}\p{N}_-]*)"?\s*:`) })

// keyAbove is the last key at a line or above it.
func keyAbove(data []byte, line int) string {
	rows := strings.Split(string(data), "\n")
	for i := min(line, len(rows)) - 1; i >= 0; i-- {
		if m := keyLine().FindStringSubmatch(rows[i]); m != nil {
			return m[1]
		}
	}
	return ""
}

func (r *reader) skill(key string, n *yaml.Node) {
	p := r.p
	given := r.keys(key, n, table{
		"name":              r.skillName,
		"version":           r.readText(&p.Version),
		"description":       r.readText(&p.Description),
		"created_from":      r.readWords(&p.CreatedFrom),
		"trigger":           r.trigger,
		"parameters":        r.parameters,
		"preconditions":     r.checks(&p.Preconditions),
		"execution":         r.execution,
		"postconditions":    r.checks(&p.Postconditions),
		"learned_shortcuts": r.readWords(&p.Shortcuts),
		"output":            r.readOutput,
		"improvement":       r.idle(r.improvement),
		"mcp_servers":       r.servers,
	})
	for _, k := range []string{"name", "execution"} {
		if n.Kind == yaml.MappingNode && !given[k] {
			r.bad(n.Line, key+"."+k, "it is missing", "write "+k+":")
		}
	}
	if n.Kind == yaml.MappingNode && !given["description"] {
		r.addWarning(n.Line, key+".description", "it is missing", "say in one sentence when the procedure is of use")
	}
	if p.TotalTime < p.StepTime {
		p.StepTime = p.TotalTime
	}
	r.group()
	r.link()
}

func (r *reader) skillName(key string, v *yaml.Node) {
	s, ok := r.scalar(key, v)
	if !ok {
		return
	}
	if err := skills.CheckName(s); err != nil {
		r.bad(v.Line, key, err.Error(), "")
		return
	}
	r.p.Name = s
}

func (r *reader) trigger(key string, n *yaml.Node) {
	t := &r.p.Trigger
	r.keys(key, n, table{
		"keywords": r.readWords(&t.Keywords), "context": r.idle(r.readWords(&t.Context)), "context_signals": r.idle(r.readWords(&t.Signals)),
		"file_patterns": r.idle(r.readWords(&t.FilePatterns)),
		"cron": r.idle(func(key string, v *yaml.Node) {
			if r.readText(&t.Cron)(key, v); t.Cron != "" && !cronShape().MatchString(t.Cron) {
				r.bad(v.Line, key, fmt.Sprintf("%q is no schedule", cutText(t.Cron)), `write five fields: "*/5 * * * *"`)
			}
		}),
	})
}

var cronShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\dA-Za-z*/,-]+)(\s+[\dA-Za-z*/,-]+){4}$`) })

// parameters are names with what they are: a default value, or a description and a default.
func (r *reader) parameters(key string, n *yaml.Node) {
	r.p.declared = true
	r.pairs(key, n, func(full string, k, v *yaml.Node) {
		x := Parameter{line: k.Line}
		if r.name(&x.Name)(full, k); x.Name == "" {
			return
		}
		plain := func(key string, v *yaml.Node) { x.Default = r.value(key, v, 0) }
		switch {
		case v.Kind == yaml.MappingNode:
			r.keys(full, v, table{"description": r.readText(&x.Description), "default": plain})
		case v.Tag != "!!null":
			plain(full, v)
		}
		r.p.Parameters = append(r.p.Parameters, x)
	})
}

func (r *reader) execution(key string, n *yaml.Node) {
	p := r.p
	given := r.keys(key, n, table{
		"strategy":         r.strategy,
		"steps":            r.steps(&p.Steps),
		"parallel_steps":   r.parallelSteps,
		"timeout_per_step": r.seconds(&p.StepTime),
		"total_timeout":    r.seconds(&p.TotalTime),
		"error_handling":   r.branches,
	})
	if n.Kind == yaml.MappingNode && !given["steps"] {
		r.bad(n.Line, key+".steps", "it is missing", "write steps: and a line with - for each")
	}
}

func (r *reader) steps(dst *[]Step) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if v.Kind == yaml.SequenceNode && (len(v.Content) == 0 || len(v.Content) > maxSteps) {
			r.bad(v.Line, key, fmt.Sprintf("there are %d steps", len(v.Content)), fmt.Sprintf("write 1 to %d", maxSteps))
			return
		}
		r.items(key, v, func(key string, item *yaml.Node) { *dst = append(*dst, r.readStep(key, item)) })
	}
}

func (r *reader) readStep(key string, n *yaml.Node) Step {
	s := Step{Line: n.Line, OnFailure: Stop}
	before := len(r.p.refs)
	given := r.keys(key, n, table{
		"name": r.readText(&s.Name), "command": r.templ(&s.Command, inCommand), "action": r.readText(&s.Action),
		"args": func(key string, v *yaml.Node) {
			if v.Kind != yaml.MappingNode {
				r.bad(v.Line, key, "a list of name: value lines is wanted here, and this is "+kindOf(v), "")
				return
			}
			s.Args = r.value(key, v, 0)
		},
		"prompt": r.templ(&s.Prompt, inValue), "schema": r.readSchema(&s.Schema),
		"output_key": r.name(&s.Output), "condition": r.condition(&s.Condition), "on_failure": r.readText(&s.OnFailure),
		"optimization": r.idle(r.readText(&s.Optimization)), "requires_confirmation": r.boolean(&s.Confirm),
		"confirmation_message": r.templ(&s.ConfirmText, inValue), "timeout": r.seconds(&s.Time),
	})
	switch {
	case n.Kind != yaml.MappingNode:
	case !given["command"] && !given["action"] && !given["prompt"]:
		r.bad(n.Line, key, "the step does nothing", "give it a command, an action or a prompt")
	case given["command"] && (given["action"] || given["prompt"]):
		r.bad(n.Line, key+".command", "the step has a command and an action or prompt", "make two steps of it")
	case given["command"] && given["args"]:
		r.bad(n.Line, key+".args", "a command has no args", "write {{name}} in the command")
	case given["confirmation_message"] && !given["requires_confirmation"]:
		r.addWarning(n.Line, key+".confirmation_message", "nobody is asked: requires_confirmation is not set", "write requires_confirmation: true")
	}
	if s.Name == "" {
		if s.Name = s.Action; s.Name == "" {
			s.Name = fmt.Sprintf("step in line %d", n.Line)
		}
	}
	r.usesOf(key, &s, before)
	return s
}

// usesOf keeps which values the texts of a step name.
func (r *reader) usesOf(key string, s *Step, before int) {
	r.uses(key+".command", s.Command)
	r.uses(key+".prompt", s.Prompt)
	r.uses(key+".confirmation_message", s.ConfirmText)
	r.usesIn(key+".args", s.Args)
	for i := before; i < len(r.p.refs); i++ {
		r.p.refs[i].step = s.Line
	}
}

// uses notes the values of a text.
func (r *reader) uses(key string, t *Text) {
	if t == nil {
		return
	}
	eachValue(t.nodes, false, func(n *node, inner bool) {
		x := ref{path: n.path, key: key, line: n.line, mode: t.mode, dollar: n.dollar, inner: inner && !n.dollar, step: -1}
		if n.block == "each" {
			x.kind, x.each = "array", n
		}
		r.p.refs = append(r.p.refs, x)
	})
}

func (r *reader) usesIn(key string, v any) {
	switch v := v.(type) {
	case *Text:
		r.uses(key, v)
	case map[string]any:
		for k, item := range v {
			r.usesIn(key+"."+k, item)
		}
	case []any:
		for _, item := range v {
			r.usesIn(key, item)
		}
	}
}

func (r *reader) templ(dst **Text, m mode) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if _, ok := r.scalar(key, v); ok {
			*dst = r.template(key, v, m)
		}
	}
}

// readSchema is a JSON readSchema, written in YAML.
func (r *reader) readSchema(dst *json.RawMessage) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if v.Kind != yaml.MappingNode {
			r.bad(v.Line, key, "a JSON schema is wanted here, and this is "+kindOf(v), "write type: object and properties:")
			return
		}
		var tree any
		err := v.Decode(&tree)
		var data []byte
		if err == nil {
			data, err = json.Marshal(tree)
		}
		s := &jsonschema.Schema{}
		if err == nil {
			err = json.Unmarshal(data, s)
		}
		if err == nil {
			_, err = s.Resolve(nil)
		}
		if err != nil {
			r.bad(v.Line, key, "this is no JSON schema: "+err.Error(), "write type: object and properties:")
			return
		}
		*dst = data
	}
}

func (r *reader) parallelSteps(key string, n *yaml.Node) {
	r.items(key, n, func(key string, item *yaml.Node) {
		g := group{line: item.Line, key: key}
		r.readWords(&g.names)(key, item)
		r.p.parallel = append(r.p.parallel, g)
	})
}

// branches are what is done about errors: words, or steps.
func (r *reader) branches(key string, n *yaml.Node) {
	r.pairs(key, n, func(full string, k, v *yaml.Node) {
		b := Branch{Name: k.Value, Then: Stop, Line: k.Line}
		if v.Kind == yaml.MappingNode {
			r.keys(full, v, table{
				"advice": r.readText(&b.Advice), "when": r.condition(&b.When), "steps": r.steps(&b.Steps), "then": r.word(&b.Then, Stop, "continue", "retry"),
			})
		} else {
			r.readText(&b.Advice)(full, v)
		}
		r.p.Branches = append(r.p.Branches, b)
	})
}

func (r *reader) readOutput(key string, n *yaml.Node) {
	o := &r.p.Output
	r.keys(key, n, table{
		"format": r.word(&o.Format, "markdown", "text", "json"), "template": r.templ(&o.Template, inTemplate),
		"on_success": r.ending(&o.OnSuccess), "on_failure": r.ending(&o.OnFailure),
	})
	r.uses(key+".template", o.Template)
}

func (r *reader) ending(dst *Ending) func(string, *yaml.Node) {
	return func(key string, n *yaml.Node) {
		r.keys(key, n, table{
			"store_memory": r.boolean(&dst.Store),
			"notify": func(key string, n *yaml.Node) {
				x := &Notify{}
				given := r.keys(key, n, table{"condition": r.condition(&x.Condition), "platform": r.readText(&x.Platform), "message": r.templ(&x.Message, inTemplate)})
				if n.Kind == yaml.MappingNode && !given["message"] {
					r.bad(n.Line, key+".message", "it is missing", "say what is told")
				}
				r.uses(key+".message", x.Message)
				dst.Notify = x
			},
		})
	}
}

func (r *reader) improvement(key string, n *yaml.Node) {
	x := &r.p.Improvement
	r.keys(key, n, table{
		"track_metrics": r.readWords(&x.Metrics), "min_samples_for_update": r.whole(&x.MinSamples, 1, 10_000),
		"auto_update": r.boolean(&x.Auto), "require_confirmation": r.boolean(&x.Confirm),
	})
}

func (r *reader) servers(key string, n *yaml.Node) {
	r.items(key, n, func(key string, item *yaml.Node) {
		s := Server{}
		given := r.keys(key, item, table{"name": r.readText(&s.Name), "tools": r.readWords(&s.Tools)})
		if item.Kind == yaml.MappingNode && !given["name"] {
			r.bad(item.Line, key+".name", "it is missing", "write the name that the settings give the server")
		}
		if item.Kind == yaml.MappingNode && !given["tools"] {
			r.addWarning(item.Line, key, "it lists no tools", "list them: without, nobody notices that one is missing, and a model makes up what it would say")
		}
		r.p.Servers = append(r.p.Servers, s)
	})
}
