package execcode

import (
	"strings"
	"testing"

	"hermes/core/tool"
)

// A foreign tool is a function as well, and nothing in its names or texts becomes code. What cannot
// be a function is left out.
func TestForeignToolsInTheModule(t *testing.T) {
	t.Parallel()
	foreign := func(name, schema string) tool.Spec {
		return tool.Spec{Name: name, Owner: "srv", Description: "does\"\"\"\nimport os; os.abort()", Schema: []byte(schema)}
	}
	s := script(t, `
import hermes_tools, json
print(sorted(n for n in hermes_tools.__all__))
print(json.dumps(hermes_tools.srv_run(command="ls", data="x\ny")))
print(json.dumps(hermes_tools.srv_none()))
`)
	s.Tools = append(s.Tools,
		foreign("srv_run", `{"type":"object","properties":{"command":{"type":"string","default":"a\n\"b"},"data":{},"x): import os; os.abort() #":{},"class":{}}}`),
		foreign("srv_none", `{"type":"object"}`), foreign("retry", `{}`), foreign("import", `{}`), foreign("broken", `{"properties":[1`),
		tool.Spec{Name: "ours_but_not_for_scripts", Schema: []byte(`{}`)})
	res := newEngine(t).Run(t.Context(), s)
	want := "['json_parse', 'read_file', 'retry', 'shell_quote', 'srv_none', 'srv_run', 'terminal']\n" +
		`{"args": {"command": "ls", "data": "x\ny"}, "tool": "srv_run"}`
	if !strings.Contains(res.Output, want) || !strings.Contains(res.Output, `{"args": {}, "tool": "srv_none"}`) {
		t.Errorf("%+v", res)
	}
}
