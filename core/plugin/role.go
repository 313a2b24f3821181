package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Role is a place in the program that one plugin at a time may take.
type Role string

// Roles.
const (
	RoleMemory  Role = "memory provider"
	RoleContext Role = "context engine"
)

// Roles lists them.
func Roles() []Role { return []Role{RoleMemory, RoleContext} }

// Time that a role's tool has when the manifest says nothing.
const (
	memoryTime  = 5 * time.Second
	contextTime = time.Minute
)

// MemoryDecl are the tools of its program by which it is the memory provider.
type MemoryDecl struct {
	Recall  string        `yaml:"recall" json:"recall,omitempty"` // asked before a turn
	Keep    string        `yaml:"keep" json:"keep,omitempty"`     // told after one
	Timeout time.Duration `yaml:"timeout" json:"timeout,omitempty"`
}

// ContextDecl is the tool of its program by which it is the context engine.
type ContextDecl struct {
	Summarise string        `yaml:"summarise" json:"summarise"`
	Timeout   time.Duration `yaml:"timeout" json:"timeout,omitempty"`
}

// Limit is the time that one call may take.
func (d MemoryDecl) Limit() time.Duration { return cmp.Or(d.Timeout, memoryTime) }

// Limit is the time that a summary may take.
func (d ContextDecl) Limit() time.Duration { return cmp.Or(d.Timeout, contextTime) }

// Has reports whether the plugin wants a role.
func (m *Manifest) Has(r Role) bool {
	return r == RoleMemory && m.Memory != nil || r == RoleContext && m.Context != nil
}

func (m *Manifest) checkRoles() error {
	if d := m.Memory; d != nil {
		if d.Recall == "" && d.Keep == "" {
			return errors.New("memory: write which of its tools is asked (recall) or told (keep)")
		}
		if err := checkTime(d.Timeout); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	if d := m.Context; d != nil {
		if d.Summarise == "" {
			return errors.New("context: write which of its tools sums up (summarise)")
		}
		if err := checkTime(d.Timeout); err != nil {
			return fmt.Errorf("context: %w", err)
		}
	}
	return nil
}

func checkTime(d time.Duration) error {
	if d < 0 || d > maxHookTime {
		return fmt.Errorf("timeout: write at most %s", maxHookTime)
	}
	return nil
}

// Holders are the plugins that hold the roles, and what those are told that want one that is taken.
// A plugin of the person comes before one of a project.
func Holders(list []Plugin) (map[Role]Plugin, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Plugin) int {
		switch {
		case a.Project == b.Project:
			return 0
		case b.Project:
			return -1
		default:
			return 1
		}
	})
	out := map[Role]Plugin{}
	var errs []error
	for _, p := range list {
		for _, r := range Roles() {
			if p.State != Enabled || !p.Manifest.Has(r) {
				continue
			}
			if first, taken := out[r]; taken {
				errs = append(errs, refuseSecond(r, first, p))
				continue
			}
			out[r] = p
		}
	}
	return out, errors.Join(errs...)
}

// refuseSecond says that there is one already.
func refuseSecond(r Role, first, second Plugin) error {
	return fmt.Errorf("the plugin %s is the %s, and there is one at a time: `hermes plugins disable %s` makes room for %s",
		first.Name, r, first.Name, second.Name)
}

// free says why a plugin cannot be enabled beside those that are.
func (l *Library) free(p Plugin) error {
	project := ""
	if p.Project {
		project = filepath.Join(l.place(p), "../../..") // of projectFolder
	}
	list, err := l.List(project)
	if err != nil {
		return err
	}
	holders, _ := Holders(list) // what is wrong already is said at the start
	for _, r := range Roles() {
		if first, taken := holders[r]; taken && p.Manifest.Has(r) && l.place(first) != l.place(p) {
			return refuseSecond(r, first, p)
		}
	}
	return nil
}

// Asks says what a person decides by, a line each: what the plugin runs, is given, takes part in.
func (p Plugin) Asks() []string {
	m := p.Manifest
	out := []string{"program: " + strings.Join(m.Command, " ")}
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(m.Env) > 0 {
		add("is given the variables: %s", strings.Join(m.Env, ", "))
	}
	if m.Tools {
		add("brings tools for the agent: `hermes mcp test %s` lists them once it is enabled", p.Name)
	}
	if m.Memory != nil {
		add("is the memory provider: it is told what you say and what is answered, and puts text beside your messages")
	}
	if m.Context != nil {
		add("is the context engine: it is given conversations that grow long, and sums them up")
	}
	for _, h := range m.Hooks {
		add("takes part in %s (%s)", strings.TrimSuffix(h.On+" of "+h.Matcher, " of "), h.Tool)
	}
	for _, c := range m.Commands {
		add("brings the command /%s: %s", c.Name, c.About)
	}
	return out
}
