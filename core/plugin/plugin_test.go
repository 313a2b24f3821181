package plugin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/testskip"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func one(t *testing.T, l *Library, project string, want State) Plugin {
	t.Helper()
	list, err := l.List(project)
	if err != nil || len(list) != 1 || list[0].State != want {
		t.Fatalf("%+v, %v; want %s", list, err, want)
	}
	return list[0]
}

// What was enabled is exactly that content: any change of a file asks again.
func TestEnabledIsOneContent(t *testing.T) {
	l := NewLibrary(t.TempDir())
	folder, _, err := l.Create("mine", DefaultLanguage)
	if err != nil {
		t.Fatal(err)
	}
	p := one(t, l, "", New)
	if err := l.Answer(p, true); err != nil {
		t.Fatal(err)
	}
	if p = one(t, l, "", Enabled); l.Unchanged(p) != nil {
		t.Error(l.Unchanged(p))
	}
	write(t, filepath.Join(folder, "more.py"), "")
	if one(t, l, "", Changed); l.Unchanged(p) == nil {
		t.Error("it may be started")
	}
	if err := l.Answer(one(t, l, "", Changed), false); err != nil {
		t.Fatal(err)
	}
	one(t, l, "", Disabled)
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	if p = one(t, l, "", Broken); !strings.Contains(p.Problem, "link") || l.Answer(p, true) == nil {
		t.Errorf("%+v", p)
	}
}

// A project's plugin is not the person's of the same name, and is enabled in its place only.
func TestProjectPlugins(t *testing.T) {
	l, project := NewLibrary(t.TempDir()), t.TempDir()
	const manifest = "name: helper\napi: 1\ncommand: sh run.sh\n"
	write(t, filepath.Join(project, projectFolder, "helper", ManifestFile), manifest)
	p := one(t, l, project, New)
	if err := l.Answer(p, true); err != nil || !p.Project {
		t.Fatal(p, err)
	}
	one(t, l, project, Enabled)
	write(t, filepath.Join(l.Folder(), "helper", ManifestFile), manifest)
	if p = one(t, l, project, New); p.Project {
		t.Errorf("%+v", p)
	}
}

func TestManifests(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\napi: 1\ncommand: [python3, x.py]\n":                                        "",
		"name: a\napi: 1\n":                                                                  "command",
		"name: A b\napi: 1\ncommand: x\n":                                                    "name",
		"name: a\napi: 9\ncommand: x\n":                                                      "api",
		"name: a\napi: 1\ncommand: x\nhoks: []\n":                                            "line 4",
		"name: a\napi: 1\ncommand: x\nhooks: [{on: pre_lunch, tool: t}]\n":                   "pre_lunch",
		"name: a\napi: 1\ncommand: x\nhooks: [{on: pre_tool_call, tool: t, matcher: '['}]\n": "missing",
		"name: a\napi: 1\ncommand: x\nenv: ['A B']\n":                                        "env",
		"name: a\napi: 1\ncommand: x\nsettings: {type: 5}\n":                                 "settings",
		"name: a\napi: 1\ncommand: x\ncommands: [{name: x}]\n":                               "commands",
		"name: a\napi: 1\ncommand: x\nmemory: {timeout: 1s}\n":                               "recall",
		"name: a\napi: 1\ncommand: x\nmemory: {keep: k, timeout: 1h}\n":                      "timeout",
		"name: a\napi: 1\ncommand: x\ncontext: {}\n":                                         "summarise",
		"name: a\napi: 1\ncommand: x\ncontext: {summarise: s}\n":                             "",
	} {
		_, err := parseManifest([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSettings(t *testing.T) {
	m, err := parseManifest([]byte(`
name: a
api: 1
command: x
settings: {type: object, properties: {most: {type: integer, maximum: 9, default: 3}, loud: {type: boolean}, word: {type: string}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for want, set := range map[string]map[string]string{
		`{"most":3}`:                        {},
		`{"loud":true,"most":5,"word":"5"}`: {"loud": "true", "most": "5", "word": "5"},
		"maximum":                           {"most": "10"},
		"no setting":                        {"mots": "1"},
		`has type "string"`:                 {"loud": "loud"},
	} {
		got, err := m.Values(set)
		if string(got) != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %s, %v; want %s", set, got, err, want)
		}
	}
}

// What a new plugin begins with works as it is, in each language: its manifest is right, and its
// program counts words.
func TestANewPluginWorks(t *testing.T) {
	for _, in := range Languages() {
		t.Run(in, func(t *testing.T) {
			l := NewLibrary(t.TempDir())
			folder, build, err := l.Create("mine", in)
			if err != nil {
				t.Fatal(err)
			}
			m, err := readManifest(folder, "mine")
			if err != nil {
				t.Fatal(err)
			}
			if build != "" {
				cmd := exec.CommandContext(t.Context(), "sh", "-c", build)
				cmd.Dir = folder
				if out, err := cmd.CombinedOutput(); err != nil {
					testskip.Missing(t, fmt.Errorf("%w: %s", err, out))
				}
			}
			cmd := exec.Command(m.Command[0], m.Command[1:]...)
			cmd.Dir = folder
			s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for text, want := range map[string]string{"one two  three": "3", "": "0"} {
				res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "count", Arguments: map[string]any{"text": text}})
				if err != nil || res.IsError || res.Content[0].(*sdk.TextContent).Text != want {
					t.Errorf("%q: %+v %v", text, res, err)
				}
			}
			if res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "unknown"}); err == nil && !res.IsError {
				t.Errorf("%+v", res)
			}
		})
	}
	if _, _, err := NewLibrary(t.TempDir()).Create("mine", "cobol"); err == nil || !strings.Contains(err.Error(), "go or python") {
		t.Error(err)
	}
}

// The examples of the documentation are plugins.
func TestExamples(t *testing.T) {
	folders, err := filepath.Glob("../../docs/examples/plugins/*")
	if err != nil || len(folders) != 3 {
		t.Fatal(folders, err)
	}
	for _, f := range folders {
		if _, err := readManifest(f, filepath.Base(f)); err != nil {
			t.Error(err)
		}
	}
}

func FuzzManifest(f *testing.F) {
	for _, seed := range []string{exampleManifest, "", "name: a\napi: 1\ncommand: x\nsettings: {properties: {a: {type: [x]}}}\n", "a: &a [*a]", "hooks: [{}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err == nil {
			_, _ = m.Values(map[string]string{"a": "1"})
			_ = m.Hidden()
		}
	})
}
