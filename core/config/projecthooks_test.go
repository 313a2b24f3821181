package config

import "testing"

// A project's file is a stranger's: what it names is not filled in from the environment, where it
// would be shown, or hashed, before anybody trusted it.
func TestHooksOfAProjectAreGivenNoVariables(t *testing.T) {
	c, _ := Load(Options{Home: t.TempDir(), Env: []string{"API_KEY=hunter2hunter2"}})
	set, problems := c.ProjectHooks("hooks.yaml", []byte("hooks:\n  pre_tool_call:\n    - {name: '${API_KEY}', command: 'echo ${API_KEY}'}\n"))
	if len(problems) > 0 || len(set.PreToolCall) != 1 || set.PreToolCall[0].Command != "echo ${API_KEY}" || set.PreToolCall[0].Name != "${API_KEY}" {
		t.Errorf("%v %+v", problems, set.PreToolCall)
	}
}
