package core

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	"hermes/core/childenv"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/core/secret"
)

// LearnSecrets tells core/secret which values the settings and the environment hold, and whether
// output is to be without them.
func LearnSecrets(c *config.Config) {
	secret.Enable(c.Security.RedactSecrets)
	values := c.Secrets()
	for _, name := range keyNames(c) {
		if value, ok := c.Secret(name); ok {
			values = append(values, value)
		}
	}
	for _, kv := range os.Environ() {
		if name, value, ok := strings.Cut(kv, "="); ok && secretVariable(name, value) {
			values = append(values, value)
		}
	}
	_, places := c.Places()
	for _, p := range places {
		for name, value := range p.Env {
			if secretVariable(name, value) {
				values = append(values, value)
			}
		}
	}
	secret.Add(values...) // at once: each time tables are made
}

// secretVariable reports whether a variable looks like one that holds a secret: by its name, unless
// its value is the path of a socket or file.
func secretVariable(name, value string) bool {
	if strings.HasPrefix(value, "/") {
		return false
	}
	switch strings.ToUpper(name) {
	case "XAUTHORITY", "SSH_AUTH_SOCK", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "XKB_DEFAULT_LAYOUT":
		return false
	}
	return childenv.LooksSecret(name)
}

// cleanEvent hides secrets in what is published. Text that comes in pieces was cleaned as a stream
// by whoever publishes it.
func cleanEvent(e event.Event) event.Event {
	if !secret.Enabled() {
		return e
	}
	switch e := e.(type) {
	case event.TextDelta, event.ReasoningDelta, event.ToolOutput, event.UsageTick, event.BackendStats, event.TerminalChanged, event.Resync:
		return e
	case event.ApprovalAsked:
		return cleanFact(cleanSpans(e))
	}
	return cleanFact(e)
}

func cleanFact(e event.Event) event.Event {
	v := reflect.ValueOf(e)
	if out, changed := cleanValue(v, ""); changed {
		if clean, ok := out.Interface().(event.Event); ok {
			return clean
		}
	}
	return e
}

// cleanSpans keeps the marks of a question where they belong.
func cleanSpans(e event.ApprovalAsked) event.ApprovalAsked {
	at := []int{e.Span[0], e.Span[1]}
	for _, s := range e.Spans {
		at = append(at, s[0], s[1])
	}
	for _, pos := range at {
		if pos < 0 || pos > len(e.Detail) {
			return e
		}
	}
	text, moved := secret.RedactAt(e.Detail, at)
	if text == e.Detail {
		return e
	}
	e.Detail, e.Span = text, [2]int{moved[0], moved[1]}
	spans := make([][2]int, len(e.Spans))
	for i := range spans {
		spans[i] = [2]int{moved[2+2*i], moved[3+2*i]}
	}
	e.Spans = spans
	return e
}

// cleanValue returns v without secrets in its texts. Nothing that v points to is changed: others
// hold it too.
func cleanValue(v reflect.Value, field string) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		return cleanString(v, field)
	case reflect.Struct:
		return cleanStruct(v)
	case reflect.Slice:
		return cleanSlice(v)
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		inner, changed := cleanValue(v.Elem(), "")
		if !changed {
			return v, false
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(inner)
		return out, true
	default:
		return v, false
	}
}

func cleanString(v reflect.Value, field string) (reflect.Value, bool) {
	switch field {
	case "ID", "UID", "CallID", "Session", "Turn", "Parent": // ours: they are looked up by
		return v, false
	}
	text := v.String()
	clean := secret.Text(text)
	if clean == text {
		return v, false
	}
	out := reflect.New(v.Type()).Elem()
	out.SetString(clean)
	return out, true
}

func cleanStruct(v reflect.Value) (reflect.Value, bool) {
	var out reflect.Value
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		got, changed := cleanValue(v.Field(i), f.Name)
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
		}
		out.Field(i).Set(got)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}

func cleanSlice(v reflect.Value) (reflect.Value, bool) {
	if raw, ok := v.Interface().(json.RawMessage); ok {
		clean := secret.JSON(raw)
		return reflect.ValueOf(json.RawMessage(clean)), string(clean) != string(raw)
	}
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Struct:
	default:
		return v, false
	}
	var out reflect.Value
	for i := range v.Len() {
		got, changed := cleanValue(v.Index(i), "")
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
		}
		out.Index(i).Set(got)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}
