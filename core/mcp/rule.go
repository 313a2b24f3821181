package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"hermes/core/config"
	"hermes/core/intent"
)

// rules are the person's limits for one server, in the order in which they count.
type rules struct {
	p   config.MCPPermissions
	sql sqlRules
}

func newRules(p config.MCPPermissions) (*rules, error) {
	for _, list := range [][]string{p.DeniedTools, p.AllowedTools, p.RequireConfirmation} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("permissions: %q is no pattern: * stands for any text", pattern)
			}
		}
	}
	return &rules{p: p, sql: newSQLRules(p.AllowedOperations, p.DeniedOperations)}, nil
}

// matches reports whether a list of patterns names a tool.
func matches(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return err == nil && ok || pattern == tool
	})
}

// denied says why a tool is never used, "" when it may be.
func (r *rules) denied(tool string) string {
	if matches(r.p.DeniedTools, tool) {
		return "the person's settings forbid it (denied_tools)"
	}
	return ""
}

// consent is what the settings say about asking.
func (r *rules) consent(tool string) intent.Consent {
	switch {
	case matches(r.p.AllowedTools, tool):
		return intent.Allowed
	case matches(r.p.RequireConfirmation, tool):
		return intent.Confirm
	default:
		return intent.Unsaid
	}
}

// word names the rule of a tool for people.
func (r *rules) word(tool string) string {
	switch {
	case r.denied(tool) != "":
		return "denied"
	case r.consent(tool) == intent.Allowed:
		return "allowed"
	case r.consent(tool) == intent.Confirm:
		return "confirmed"
	default:
		return "asked"
	}
}

// refuse says for the model why a call must not reach the server, "" when it may.
func (r *rules) refuse(ctx context.Context, tool string, args json.RawMessage, at files) string {
	if why := r.denied(tool); why != "" {
		return fmt.Sprintf("Refused: %s. Do not look for another way to do it.", why)
	}
	var values any
	if err := json.Unmarshal(args, &values); err != nil {
		return "The arguments are not valid JSON."
	}
	for _, why := range []func() string{
		func() string { return r.sql.refuse(values) },
		func() string { return r.refusePaths(ctx, values, at) },
	} {
		if text := why(); text != "" {
			return "Refused by the person's settings: " + text + ". Nothing was sent to the server. Do not look for another way to do it."
		}
	}
	return ""
}

// each calls f with every text in arguments and the key that it stands under.
func each(v any, key string, f func(key, text string) string) string {
	switch v := v.(type) {
	case string:
		return f(key, v)
	case []any:
		for _, x := range v {
			if why := each(x, key, f); why != "" {
				return why
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if why := each(v[k], k, f); why != "" {
				return why
			}
		}
	}
	return ""
}

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func joinNames(list []string) string { return strings.Join(list, ", ") }
