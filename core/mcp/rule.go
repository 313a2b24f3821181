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

// matchesAny reports whether a list of patterns names a tool.
func matchesAny(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return err == nil && ok || pattern == tool
	})
}

// whyDenied says why a tool is never used, "" when it may be.
func (r *rules) whyDenied(tool string) string {
	if matchesAny(r.p.DeniedTools, tool) {
		return "the person's settings forbid it (denied_tools)"
	}
	return ""
}

// consentFor is what the settings say about asking.
func (r *rules) consentFor(tool string) intent.Consent {
	switch {
	case matchesAny(r.p.AllowedTools, tool):
		return intent.Allowed
	case matchesAny(r.p.RequireConfirmation, tool):
		return intent.Confirm
	default:
		return intent.Unsaid
	}
}

// ruleWord names the rule of a tool for people.
func (r *rules) ruleWord(tool string) string {
	switch {
	case r.whyDenied(tool) != "":
		return "denied"
	case r.consentFor(tool) == intent.Allowed:
		return "allowed"
	case r.consentFor(tool) == intent.Confirm:
		return "confirmed"
	default:
		return "asked"
	}
}

// whyRefused says for the model why a call must not reach the server, "" when it may.
func (r *rules) whyRefused(ctx context.Context, tool string, args json.RawMessage,
	at files,
) string {
	if why := r.whyDenied(tool); why != "" {
		return fmt.Sprintf("Refused: %s. Do not look for another way to do it.", why)
	}
	var values any
	if err := json.Unmarshal(args, &values); err != nil {
		return "The arguments are not valid JSON."
	}
	for _, why := range []func() string{
		func() string { return r.sql.whyRefused(values) },
		func() string { return r.refusePaths(ctx, values, at) },
	} {
		if text := why(); text != "" {
			return "Refused by the person's settings: " + text + ". Nothing was sent to the server. Do not look for another way to do it."
		}
	}
	return ""
}

// eachText calls f with every text in arguments and the key that it stands under.
func eachText(v any, key string, f func(key, text string) string) string {
	switch v := v.(type) {
	case string:
		return f(key, v)
	case []any:
		for _, x := range v {
			if why := eachText(x, key, f); why != "" {
				return why
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if why := eachText(v[k], k, f); why != "" {
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
