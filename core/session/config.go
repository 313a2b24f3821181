package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Config says how one session works. Zero fields mean what the settings say, live.
type Config struct {
	Toolsets []string `json:"toolsets,omitempty"`
	Policy   Policy   `json:"policy,omitzero"`
	Effort   string   `json:"effort,omitempty"` // as agent.reasoning_effort

	// Source and Unattended belong to the way in that opened the session: a script's session that a
	// person opens has somebody who can answer. They are not stored.
	Source     string `json:"-"` // "tui", "run", ...
	Unattended bool   `json:"-"` // nobody can answer: what would be asked is refused
}

// Policy is what of a session's calls is asked about.
type Policy struct {
	Mode  string `json:"mode,omitempty"`  // as approvals.mode
	Level *int   `json:"level,omitempty"` // as approvals.level
}

// Levels are the names of the approval levels, by number.
func Levels() []string { return []string{"read", "create", "standard", "sensitive"} }

// What is no level of its own, but stands beside them: nothing changes, nothing is asked.
const (
	LevelPlan = "plan"
	LevelAll  = "all"
)

// modeOf are the modes of approval that LevelPlan and LevelAll mean.
func modeOf() map[string]string { return map[string]string{LevelPlan: "plan", LevelAll: "off"} }

// PolicyNamed is the policy of a level's name, LevelPlan or LevelAll.
func PolicyNamed(name string) (Policy, error) {
	if mode, ok := modeOf()[strings.ToLower(strings.TrimSpace(name))]; ok {
		return Policy{Mode: mode}, nil
	}
	n, err := Level(name)
	return Policy{Level: &n}, err
}

// Level is the number of a level's name.
func Level(name string) (int, error) {
	n := slices.Index(Levels(), strings.ToLower(strings.TrimSpace(name)))
	if n < 0 {
		return 0, fmt.Errorf("there is no level %q: choose %s, %s or %s", name, LevelPlan, strings.Join(Levels(), ", "), LevelAll)
	}
	return n, nil
}

// LevelName is the name of the level, LevelPlan or LevelAll; "" when the settings decide.
func (p Policy) LevelName() string {
	for name, mode := range modeOf() {
		if p.Mode == mode {
			return name
		}
	}
	if p.Level == nil || *p.Level < 0 || *p.Level >= len(Levels()) {
		return ""
	}
	return Levels()[*p.Level]
}

// WithDefaults is c where it says something, else base.
func (c Config) WithDefaults(base Config) Config {
	if len(c.Toolsets) == 0 {
		c.Toolsets = base.Toolsets
	}
	if c.Policy.Level == nil && c.Policy.Mode == "" {
		c.Policy = base.Policy
	}
	c.Effort, c.Source = cmp.Or(c.Effort, base.Effort), cmp.Or(c.Source, base.Source)
	c.Unattended = c.Unattended || base.Unattended
	return c
}

// metaConfig is the key under which a session keeps its config.
const metaConfig = "config"

// ConfigOf returns what was stored for a session; nothing for one that is not there yet.
func (s *Service) ConfigOf(ctx context.Context, uid string) (Config, error) {
	var c Config
	text, err := s.Meta(ctx, uid, metaConfig)
	if err != nil || text == "" {
		return c, err
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("what was set for session %s cannot be read: %w", uid, err)
	}
	return c, nil
}

// SetConfig stores what holds for a session from its next call on.
func (s *Service) SetConfig(ctx context.Context, uid string, c Config) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if string(text) == "{}" {
		text = nil
	}
	return s.SetMeta(ctx, uid, metaConfig, string(text))
}
