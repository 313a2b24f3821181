package procedure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"hermes/core/clip"
	"hermes/core/nearest"
	"hermes/core/yamlfault"
	"hermes/skills"
)

// Defaults of a file that says nothing.
const (
	defaultStepTime  = 10 * time.Minute
	defaultTotalTime = time.Hour
	defaultSamples   = 5
)

// Parse reads a procedure. file names it in problems.
func Parse(file string, data []byte) *Procedure {
	r := &reader{p: &Procedure{File: file, StepTime: defaultStepTime, TotalTime: defaultTotalTime}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(data) > MaxFile:
		r.addFault(1, "", fmt.Sprintf("the file has %d bytes, at most %d are read", len(data), MaxFile), "split it")
		return r.p
	case !utf8.Valid(data):
		r.addFault(1, "", "the file is not UTF-8 text", "save it as UTF-8")
		return r.p
	}
	root, err := decodeDocument(data)
	if err != nil {
		at := yamlfault.Find(data, err)
		r.addFault(at.Line, keyAbove(data, at.Line), fmt.Sprintf("%s: %q", at.Why, clip.Runes(at.Text, 60, "…")),
			at.Fix)
		return r.p
	}
	if root == nil || root.Kind != yaml.MappingNode {
		r.addFault(1, "skill", "a procedure begins with the line skill:", "write skill: and name:, description: and execution: below it")
		return r.p
	}
	given := r.readKeys("", root, table{"skill": r.readSkill})
	if !given["skill"] {
		r.addFault(1, "skill", "it is missing", "begin with the line skill:")
	}
	return r.p
}

// decodeDocument reads one document without the parser's panics.
func decodeDocument(data []byte) (root *yaml.Node, err error) {
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

func (r *reader) readSkill(key string, n *yaml.Node) {
	p := r.p
	given := r.readKeys(key, n, table{
		"name":              r.skillName,
		"version":           r.readText(&p.Version),
		"description":       r.readText(&p.Description),
		"created_from":      r.readWords(&p.CreatedFrom),
		"trigger":           r.readTrigger,
		"parameters":        r.readParameters,
		"preconditions":     r.readChecks(&p.Preconditions),
		"execution":         r.readExecution,
		"postconditions":    r.readChecks(&p.Postconditions),
		"learned_shortcuts": r.readWords(&p.Shortcuts),
		"output":            r.readOutput,
		"improvement":       r.readImprovement,
		"mcp_servers":       r.readServers,
	})
	for _, k := range []string{"name", "execution"} {
		if n.Kind == yaml.MappingNode && !given[k] {
			r.addFault(n.Line, key+"."+k, "it is missing", "write "+k+":")
		}
	}
	if n.Kind == yaml.MappingNode && !given["description"] {
		r.addWarning(n.Line, key+".description", "it is missing", "say in one sentence when the procedure is of use")
	}
	if p.TotalTime < p.StepTime {
		p.StepTime = p.TotalTime
	}
	r.groupSteps()
	r.linkNames()
}

func (r *reader) skillName(key string, v *yaml.Node) {
	s, ok := r.scalarText(key, v)
	if !ok {
		return
	}
	if err := skills.CheckName(s); err != nil {
		r.addFault(v.Line, key, err.Error(), "")
		return
	}
	r.p.Name = s
}

func (r *reader) readTrigger(key string, n *yaml.Node) {
	t := &r.p.Trigger
	r.readKeys(key, n, table{
		"keywords": r.readWords(&t.Keywords), "context": r.readNoEffect(r.readWords(&t.Context)), "context_signals": r.readNoEffect(r.readWords(&t.Signals)),
		"file_patterns": r.readNoEffect(r.readWords(&t.FilePatterns)),
		"cron": r.readNoEffect(func(key string, v *yaml.Node) {
			if r.readText(&t.Cron)(key, v); t.Cron != "" && !cronShape().MatchString(t.Cron) {
				r.addFault(v.Line, key, fmt.Sprintf("%q is no schedule", clip.Runes(t.Cron, 60, "…")), `write five fields: "*/5 * * * *"`)
			}
		}),
	})
}

var cronShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\dA-Za-z*/,-]+)(\s+[\dA-Za-z*/,-]+){4}$`) })

// readParameters reads names with what they are: a default value, or a description and a default.
func (r *reader) readParameters(key string, n *yaml.Node) {
	r.p.declared = true
	r.eachPair(key, n, func(full string, k, v *yaml.Node) {
		x := Parameter{line: k.Line}
		if r.readName(&x.Name)(full, k); x.Name == "" {
			return
		}
		plain := func(key string, v *yaml.Node) { x.Default = r.readValue(key, v, 0) }
		switch {
		case v.Kind == yaml.MappingNode:
			r.readKeys(full, v, table{"description": r.readText(&x.Description), "default": plain})
		case v.Tag != "!!null":
			plain(full, v)
		}
		r.p.Parameters = append(r.p.Parameters, x)
	})
}

func (r *reader) readExecution(key string, n *yaml.Node) {
	p := r.p
	given := r.readKeys(key, n, table{
		"strategy":         r.readStrategy,
		"steps":            r.readSteps(&p.Steps),
		"parallel_steps":   r.parallelSteps,
		"timeout_per_step": r.readDuration(&p.StepTime),
		"total_timeout":    r.readDuration(&p.TotalTime),
		"error_handling":   r.readBranches,
	})
	p.limited.step, p.limited.total = given["timeout_per_step"], given["total_timeout"]
	if n.Kind == yaml.MappingNode && !given["steps"] {
		r.addFault(n.Line, key+".steps", "it is missing", "write steps: and a line with - for each")
	}
}

func (r *reader) readSteps(dst *[]Step) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if v.Kind == yaml.SequenceNode && (len(v.Content) == 0 || len(v.Content) > maxSteps) {
			r.addFault(v.Line, key, fmt.Sprintf("there are %d steps", len(v.Content)), fmt.Sprintf("write 1 to %d", maxSteps))
			return
		}
		r.eachItem(key, v, func(key string,
			item *yaml.Node,
		) {
			*dst = append(*dst, r.readStep(key, item))
		})
	}
}

func (r *reader) readStep(key string, n *yaml.Node) Step {
	s := Step{Line: n.Line, OnFailure: Stop}
	before := len(r.p.refs)
	given := r.readKeys(key, n, table{
		"name": r.readText(&s.Name), "command": r.readTemplate(&s.Command, inCommand), "action": r.readText(&s.Action),
		"args": func(key string, v *yaml.Node) {
			if v.Kind != yaml.MappingNode {
				r.addFault(v.Line, key, "a list of name: value lines is wanted here, and this is "+kindOf(v),
					"")
				return
			}
			s.Args = r.readValue(key, v, 0)
		},
		"prompt": r.readTemplate(&s.Prompt, inValue), "schema": r.readSchema(&s.Schema),
		"output_key": r.readName(&s.Output), "condition": r.readCondition(&s.Condition), "on_failure": r.readText(&s.OnFailure),
		"optimization": r.readNoEffect(r.readText(&s.Optimization)), "requires_confirmation": r.readBool(&s.Confirm),
		"confirmation_message": r.readTemplate(&s.ConfirmText,
			inValue), "timeout": r.readDuration(&s.Time),
	})
	switch {
	case n.Kind != yaml.MappingNode:
	case !given["command"] && !given["action"] && !given["prompt"]:
		r.addFault(n.Line, key, "the step does nothing", "give it a command, an action or a prompt")
	case given["command"] && (given["action"] || given["prompt"]):
		r.addFault(n.Line, key+".command", "the step has a command and an action or prompt", "make two steps of it")
	case given["command"] && given["args"]:
		r.addFault(n.Line, key+".args", "a command has no args", "write {{name}} in the command")
	case given["confirmation_message"] && !given["requires_confirmation"]:
		r.addWarning(n.Line, key+".confirmation_message", "nobody is asked: requires_confirmation is not set", "write requires_confirmation: true")
	}
	if s.Named = s.Name != ""; !s.Named {
		if s.Name = s.Action; s.Name == "" {
			s.Name = fmt.Sprintf("step in line %d", n.Line)
		}
	}
	r.checkAction(key, n, &s)
	r.usesOf(key, &s, before)
	return s
}

// usesOf keeps which values the texts of a step name.
func (r *reader) usesOf(key string, s *Step, before int) {
	r.noteUses(key+".command", s.Command)
	r.noteUses(key+".prompt", s.Prompt)
	r.noteUses(key+".confirmation_message", s.ConfirmText)
	r.usesIn(key+".args", s.Args)
	for i := before; i < len(r.p.refs); i++ {
		r.p.refs[i].step = s.Line
	}
}

// noteUses notes the values of a text.
func (r *reader) noteUses(key string, t *Text) {
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
		r.noteUses(key, v)
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

func (r *reader) readTemplate(dst **Text, m mode) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if _, ok := r.scalarText(key, v); ok {
			*dst = r.parseTemplate(key, v, m)
		}
	}
}

// readSchema is a JSON readSchema, written in YAML.
func (r *reader) readSchema(dst *json.RawMessage) func(string, *yaml.Node) {
	return func(key string, v *yaml.Node) {
		if v.Kind != yaml.MappingNode {
			r.addFault(v.Line, key, "a JSON schema is wanted here, and this is "+kindOf(v), "write type: object and properties:")
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
			r.addFault(v.Line, key, "this is no JSON schema: "+err.Error(),
				"write type: object and properties:")
			return
		}
		*dst = data
	}
}

func (r *reader) parallelSteps(key string, n *yaml.Node) {
	r.eachItem(key, n, func(key string, item *yaml.Node) {
		g := group{line: item.Line, key: key}
		r.readWords(&g.names)(key, item)
		r.p.parallel = append(r.p.parallel, g)
	})
}

// readBranches reads what is done about errors: words, or steps.
func (r *reader) readBranches(key string, n *yaml.Node) {
	r.eachPair(key, n, func(full string, k, v *yaml.Node) {
		b := Branch{Name: k.Value, Then: Stop, Line: k.Line}
		if v.Kind == yaml.MappingNode {
			r.readKeys(full, v, table{
				"advice": r.readText(&b.Advice), "when": r.readCondition(&b.When), "steps": r.readSteps(&b.Steps), "then": r.readWord(&b.Then, Stop, "continue", "retry"),
			})
		} else {
			r.readText(&b.Advice)(full, v)
		}
		r.p.Branches = append(r.p.Branches, b)
	})
}

func (r *reader) readOutput(key string, n *yaml.Node) {
	o := &r.p.Output
	r.readKeys(key, n, table{
		"format": r.readWord(&o.Format, "markdown", "text", "json"), "template": r.readTemplate(&o.Template, inTemplate),
		"on_success": r.readEnding(&o.OnSuccess), "on_failure": r.readEnding(&o.OnFailure),
	})
	r.noteUses(key+".template", o.Template)
}

func (r *reader) readEnding(dst *Ending) func(string, *yaml.Node) {
	return func(key string, n *yaml.Node) {
		r.readKeys(key, n, table{
			"store_memory": r.readBool(&dst.Store),
			"notify": func(key string, n *yaml.Node) {
				x := &Notify{}
				given := r.readKeys(key, n, table{"condition": r.readCondition(&x.Condition), "platform": r.readText(&x.Platform), "message": r.readTemplate(&x.Message, inTemplate)})
				if n.Kind == yaml.MappingNode && !given["message"] {
					r.addFault(n.Line, key+".message", "it is missing", "say what is told")
				}
				r.noteUses(key+".message", x.Message)
				dst.Notify = x
			},
		})
	}
}

func (r *reader) readImprovement(key string, n *yaml.Node) {
	x := &r.p.Improvement
	*x = Improvement{Given: true, MinSamples: defaultSamples, Auto: true}
	r.readKeys(key, n, table{
		"track_metrics": r.readMetrics, "min_samples_for_update": r.readInt(&x.MinSamples, 1, 10_000),
		"auto_update": r.readBool(&x.Auto), "require_confirmation": r.readBool(&x.Confirm),
	})
}

// readMetrics reads what is to be measured, and says of each word whether something measures it.
func (r *reader) readMetrics(key string, n *yaml.Node) {
	r.eachItem(key, n, func(key string, item *yaml.Node) {
		s, ok := r.scalarText(key, item)
		if !ok {
			return
		}
		s = strings.TrimSpace(s)
		r.p.Improvement.Metrics = append(r.p.Improvement.Metrics, s)
		if words := slices.Sorted(maps.Keys(Metrics())); !slices.Contains(words, s) {
			fix := "measured are " + strings.Join(words, ", ")
			if near, ok := nearest.Name(s, words); ok {
				fix = "did you mean " + near + "?"
			}
			r.addWarning(item.Line, key, fmt.Sprintf("nothing measures %s", clip.Runes(s, 60, "…")), fix)
		}
	})
}

func (r *reader) readServers(key string, n *yaml.Node) {
	r.eachItem(key, n, func(key string, item *yaml.Node) {
		s := Server{}
		given := r.readKeys(key, item, table{"name": r.readText(&s.Name), "tools": r.readWords(&s.Tools)})
		if item.Kind == yaml.MappingNode && !given["name"] {
			r.addFault(item.Line, key+".name", "it is missing", "write the name that the settings give the server")
		}
		if item.Kind == yaml.MappingNode && !given["tools"] {
			r.addWarning(item.Line, key, "it lists no tools", "list them: without, nobody notices that one is missing, and a model makes up what it would say")
		}
		r.p.Servers = append(r.p.Servers, s)
	})
}
