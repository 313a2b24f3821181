package core

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A skill that is loaded starts the server that it names, if the person has set it up.
func TestASkillStartsItsServer(t *testing.T) {
	p := newPlace(t)
	p.write("mcp_servers:\n  tracker: {url: \"http://127.0.0.1:1/\", start: skill}\n  usual: {url: \"http://127.0.0.1:1/\"}\n")
	dir := filepath.Join(p.home, "skills", "issues")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: issues\ndescription: Works with issues.\nmcp_servers: [{name: tracker, tools: [list]}, other]\n---\nList the issues.\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	x := p.open(nil)
	defer x.close()
	if names := x.serversOf(nil); !slices.Equal(names, []string{"usual"}) {
		t.Errorf("%q", names)
	}
	part, err := x.Skill(t.Context(), p.cwd, "issues")
	if err != nil || !strings.Contains(part.Text, "servers of tools tracker, other") {
		t.Errorf("%q %v", part.Text, err)
	}
	if names := x.serversOf(nil); !slices.Equal(names, []string{"tracker", "usual"}) {
		t.Errorf("%q", names)
	}
}
