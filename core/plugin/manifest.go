package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"hermes/core/atomicfile"
	"hermes/core/hook"
	"hermes/core/injection"
)

// ManifestFile is in every plugin's folder.
const ManifestFile = "plugin.yaml"

const (
	api         = 1
	maxManifest = 256 << 10

	maxHookTime  = 5 * time.Minute
	maxDeclared  = 50
	maxTextChars = 500
)

// Manifest is what a plugin says of itself.
type Manifest struct {
	Name        string        `yaml:"name" json:"name"`
	Version     string        `yaml:"version" json:"version,omitempty"`
	Description string        `yaml:"description" json:"description,omitempty"`
	API         int           `yaml:"api" json:"api"`
	Command     words         `yaml:"command" json:"command"` // started in the plugin's folder
	Env         []string      `yaml:"env" json:"env,omitempty"`
	Tools       bool          `yaml:"tools" json:"tools"` // its other tools are the agent's
	Hooks       []HookDecl    `yaml:"hooks" json:"hooks,omitempty"`
	Commands    []CommandDecl `yaml:"commands" json:"commands,omitempty"`
	Memory      *MemoryDecl   `yaml:"memory" json:"memory,omitempty"`
	Context     *ContextDecl  `yaml:"context" json:"context,omitempty"`
	// Settings is the JSON schema of an object: what a person may set for it.
	Settings map[string]any `yaml:"settings" json:"settings,omitempty"`
}

// HookDecl is a tool of its program that takes part in something.
type HookDecl struct {
	On      string        `yaml:"on" json:"on"`
	Tool    string        `yaml:"tool" json:"tool"`
	Matcher string        `yaml:"matcher" json:"matcher,omitempty"`
	Timeout time.Duration `yaml:"timeout" json:"timeout,omitempty"`
	OnError string        `yaml:"on_error" json:"on_error,omitempty"`
}

// CommandDecl is a tool of its program that a person calls.
type CommandDecl struct {
	Name  string `yaml:"name" json:"name"`
	Tool  string `yaml:"tool" json:"tool"`
	About string `yaml:"about" json:"about,omitempty"`
	Arg   string `yaml:"arg" json:"arg,omitempty"` // what its argument is called
}

// words is a command line: a list, or one text without quotes.
type words []string

func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = strings.Fields(n.Value)
		return nil
	}
	var list []string
	err := n.Decode(&list)
	*w = list
	return err
}

var (
	validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })
	validVar  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// readManifest reads what a folder says of itself. Errors name the line.
func readManifest(folder, name string) (Manifest, error) {
	data, err := readManifestFile(folder)
	if err != nil {
		return Manifest{}, err
	}
	m, err := parseManifest(data)
	if err == nil && m.Name != name {
		err = fmt.Errorf("%s: name is %q, and its folder is called %q: they must be the same", ManifestFile, m.Name, name)
	}
	return m, err
}

func readManifestFile(folder string) ([]byte, error) {
	path := filepath.Join(folder, ManifestFile)
	data, err := atomicfile.ReadPlain(path, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s in %s", ManifestFile, folder)
	}
	return data, err
}

func parseManifest(data []byte) (Manifest, error) {
	var m Manifest
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if err := m.checkFields(); err != nil {
		return m, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return m, nil
}

func (m *Manifest) checkFields() error {
	switch {
	case !validName().MatchString(m.Name):
		return fmt.Errorf("name: %q is none: use up to 32 of a-z, 0-9, dash and underscore", m.Name)
	case m.API != api:
		return fmt.Errorf("api: this program knows %d, and it wants %d", api, m.API)
	case len(m.Command) == 0:
		return errors.New("command: write the program that is started, as in [python3, main.py]")
	case len(m.Hooks) > maxDeclared || len(m.Commands) > maxDeclared:
		return fmt.Errorf("more than %d hooks or commands", maxDeclared)
	case len(m.Description) > maxTextChars:
		return fmt.Errorf("description: longer than %d characters", maxTextChars)
	}
	for _, name := range m.Env {
		if !validVar().MatchString(name) {
			return fmt.Errorf("env: %q is no name of a variable", name)
		}
	}
	for i, h := range m.Hooks {
		if err := h.checkFields(); err != nil {
			return fmt.Errorf("hooks, the %d. one: %w", i+1, err)
		}
	}
	for i, c := range m.Commands {
		if !validName().MatchString(c.Name) || c.Tool == "" {
			return fmt.Errorf("commands, the %d. one: it wants a name of a-z, 0-9, dash and underscore, and a tool", i+1)
		}
	}
	if err := m.checkRoles(); err != nil {
		return err
	}
	for _, f := range injection.ScanDocument(m.Description) {
		return fmt.Errorf("description: it reads like orders to the agent (%s)", f.Reason)
	}
	if _, err := m.settingsSchema(); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

func (h HookDecl) checkFields() error {
	switch {
	case !slices.Contains(hook.Events(), hook.Event(h.On)):
		return fmt.Errorf("on: %q is no event; docs/hooks.md lists them", h.On)
	case h.Tool == "":
		return errors.New("tool: write which of its tools is called")
	case checkTime(h.Timeout) != nil:
		return checkTime(h.Timeout)
	case h.OnError != "" && h.OnError != "deny" && h.OnError != "allow":
		return fmt.Errorf("on_error: %q is neither deny nor allow", h.OnError)
	}
	_, err := regexp.Compile(h.Matcher)
	return err
}

// Hidden are its tools that the agent is not told of.
func (m *Manifest) Hidden() []string {
	if !m.Tools {
		return []string{"*"}
	}
	var out []string
	for _, h := range m.Hooks {
		out = append(out, h.Tool)
	}
	for _, c := range m.Commands {
		out = append(out, c.Tool)
	}
	if d := m.Memory; d != nil {
		out = append(out, d.Recall, d.Keep)
	}
	if d := m.Context; d != nil {
		out = append(out, d.Summarise)
	}
	out = slices.DeleteFunc(out, func(tool string) bool { return tool == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *Manifest) settingsSchema() (*jsonschema.Resolved, error) {
	if len(m.Settings) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(m.Settings)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
}

// Values are the settings of a person as the plugin is given them: typed and with its defaults.
func (m *Manifest) Values(set map[string]string) (json.RawMessage, error) {
	schema, err := m.settingsSchema()
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for key, text := range set {
		if schema == nil || schema.Schema().Properties[key] == nil {
			return nil, fmt.Errorf("it has no setting %q", key)
		}
		values[key] = typed(schema.Schema().Properties[key], text)
	}
	if schema == nil {
		return json.RawMessage(`{}`), nil
	}
	if err := schema.ApplyDefaults(&values); err != nil {
		return nil, err
	}
	if err := schema.Validate(values); err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// typed is a text as the schema wants it; what does not fit stays text, and the schema says so.
func typed(s *jsonschema.Schema, text string) any {
	switch s.Type {
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case "integer", "number":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	return text
}
