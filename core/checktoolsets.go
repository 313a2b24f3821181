package core

import (
	"context"
	"fmt"

	"hermes/core/backend"
	"hermes/core/chat"
	"hermes/core/config"
	"hermes/core/mcp"
	"hermes/core/session"
	"hermes/core/tool"
	"hermes/core/tool/ask"
	"hermes/core/tool/builtin"
	"hermes/core/tool/plan"
	"hermes/core/tool/web"
)

// ToolsetFault is what is wrong with one toolset of the settings.
type ToolsetFault struct {
	Text  string
	Empty bool // it is one, but holds nothing
}

// CheckToolsets says what is wrong with the toolsets of the settings, without opening the program:
// names that are none, sets that hold no tool in this version, and a list that is there and empty.
func CheckToolsets(c *config.Config) []ToolsetFault {
	if len(c.Toolsets) == 0 {
		if c.Origin("toolsets") == "default" {
			return nil
		}
		return []ToolsetFault{{"toolsets is empty, which means the usual ones; name a set that holds less, such as safe", true}}
	}
	r, err := everyTool(c)
	if err != nil {
		return []ToolsetFault{{err.Error(), false}}
	}
	var out []ToolsetFault
	for _, name := range c.Toolsets {
		if err := r.Unknown([]string{name}); err != nil {
			out = append(out, ToolsetFault{err.Error(), false})
		} else if !r.Holds(name) {
			out = append(out, ToolsetFault{fmt.Sprintf("toolset %s holds no tool in this version", name), true})
		}
	}
	return out
}

// everyTool is a registry of the tools of this version, of which none can run.
func everyTool(c *config.Config) (*tool.Registry, error) {
	tools := builtin.All(builtin.Deps{
		Pool: noPool{}, Sessions: (*session.Service)(nil), Todos: plan.InMeta(nil), Web: &web.Options{},
		Ask: func(context.Context, ask.Question) (string, error) { return "", nil },
		See: func(context.Context, string, chat.Part, string) (string, string, error) { return "", "", nil },
	}).Tools
	for _, family := range []string{"memory", "skills", "code_execution"} { // what they are made of needs an opened program
		tools = append(tools, tool.Typed(tool.Spec{Name: family, Toolset: family, Description: family, Schema: []byte(`{"type":"object"}`)},
			func(context.Context, tool.Call, struct{}) (tool.Result, error) { return tool.Result{}, nil }))
	}
	r, err := tool.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	r.Owners(func() map[string]string { return serverToolsets(c) })
	return r, nil
}

// noPool is where nothing runs.
type noPool struct{ backend.Pool }

// List implements backend.Pool.
func (noPool) List(string) []backend.Status { return nil }

// serverToolsets are the servers of the settings, as owners of tools, with the toolset of each.
func serverToolsets(c *config.Config) map[string]string {
	out := map[string]string{}
	for name, s := range c.MCPServers {
		if !s.Off() {
			out[mcp.OwnerPrefix+name] = mcp.Toolset(name)
		}
	}
	return out
}
