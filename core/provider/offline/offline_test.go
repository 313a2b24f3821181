package offline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/provider"
	"hermes/core/testwait"
)

// every tool that offline can ask for.
var tools = func() []provider.ToolSpec {
	var out []provider.ToolSpec
	for n := range strings.FieldsSeq("terminal read_file search_files session_search write_file todo clarify memory execute_code skill_run") {
		out = append(out, provider.ToolSpec{Name: n})
	}
	return out
}()

func ask(text string) provider.Request {
	return provider.Request{Tools: tools, Messages: []chat.Message{{Role: chat.RoleUser, Text: text}}}
}

func TestRequests(t *testing.T) {
	const fenced = "```"
	for text, want := range map[string]string{
		"$ uname -a":                `terminal {"command":"uname -a"}`,
		"  $ ls\n$ pwd\nsome words": `terminal {"command":"ls"} terminal {"command":"pwd"}`,
		"$ echo a \\\n  b":          `terminal {"command":"echo a \\\n  b"}`,
		"@box $ ls":                 `terminal {"backend":"box","command":"ls"}`,
		"@box\n" + fenced + "bash\nls\npwd\n" + fenced:       `terminal {"backend":"box","command":"ls\npwd"}`,
		"run this\n~~~sh\necho ` + \"`\"\n~~~":               `terminal {"command":"echo ` + "`" + ` + \"` + "`" + `\""}`,
		fenced + "console\n$ ls\na b\n$ pwd\n" + fenced:      `terminal {"command":"ls\npwd"}`,
		fenced + "python\nprint(1)\n" + fenced:               `execute_code {"code":"print(1)\n"}`,
		"read go.mod":                                        `read_file {"path":"go.mod"}`,
		`Read "my file.txt"`:                                 `read_file {"path":"my file.txt"}`,
		"find func main in core/agent":                       `search_files {"path":"core/agent","pattern":"func main"}`,
		"find f(x) in a.go":                                  `search_files {"path":"a.go","pattern":"f\\(x\\)"}`,
		"find 世界":                                            `search_files {"pattern":"世界"}`,
		"find 'x in y' in z":                                 `search_files {"path":"z","pattern":"x in y"}`,
		"search past docker network":                         `session_search {"query":"docker network"}`,
		"remember the key is under the mat":                  `memory {"action":"add","content":"the key is under the mat","target":"memory"}`,
		"write a/b.txt\n" + fenced + "\none\ntwo\n" + fenced: `write_file {"content":"one\ntwo\n","path":"a/b.txt"}`,
		"run procedure code_review target=main --dry-run":    `skill_run {"dry_run":true,"name":"code_review","parameters":{"target":"main"}}`,
		"todo: one; two ;":                                   `todo {"todos":[{"id":"1","content":"one","status":"pending"},{"id":"2","content":"two","status":"pending"}]}`,
		"ask Which one? red | green":                         `clarify {"choices":["red","green"],"question":"Which one?"}`,
		"ask 哪个？ 红 | 绿":                                      `clarify {"choices":["红","绿"],"question":"哪个？"}`,
		"ask How are you":                                    `clarify {"question":"How are you"}`,
		// none of these is a request
		"hello":                              "",
		"read the manual and tell me":        "",
		"@README.md what is this?":           "",
		"@box read go.mod":                   "",
		"it costs $ 5":                       "",
		"search the web":                     "",
		"write a poem":                       "",
		"$":                                  "",
		fenced + "sh\nrm -rf / (not closed)": "",
		fenced + "\nls\n" + fenced:           "",
		fenced + "sh\n\n" + fenced:           "",
		"todo:":                              "",
		"":                                   "",
	} {
		t.Run(text, func(t *testing.T) {
			text, calls := answer(ask(text))
			var got []string
			for _, c := range calls {
				var args map[string]any
				if err := json.Unmarshal(c.Args, &args); err != nil {
					t.Fatal(err)
				}
				got = append(got, c.Name+" "+string(c.Args))
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("got  %s\nwant %s", s, want)
			}
			if want == "" && text != noModelText {
				t.Errorf("free text is not answered plainly: %q", text)
			}
		})
	}
}

func TestWhatIsPastedIsMeant(t *testing.T) {
	paste := []chat.Part{{Kind: chat.PartPaste, Text: "```\none\n```"}, {Kind: chat.PartFile, Text: "$ rm"}}
	_, calls := answer(provider.Request{Tools: tools, Messages: []chat.Message{{Role: chat.RoleUser, Text: "write x.txt", Parts: paste}}})
	if len(calls) != 1 || calls[0].Name != "write_file" {
		t.Errorf("calls %+v", calls)
	}
}

func TestMissingToolsAreSaid(t *testing.T) {
	r := ask("```python\nprint(1)\n```")
	r.Tools = []provider.ToolSpec{{Name: "terminal"}}
	text, calls := answer(r)
	if len(calls) != 0 || !strings.Contains(text, "execute_code") {
		t.Errorf("%q %v", text, calls)
	}
}

func TestHelpNamesEveryRequest(t *testing.T) {
	text, calls := answer(ask("help"))
	if calls != nil {
		t.Error("help runs something")
	}
	for _, w := range []string{"$ ", "@name", "python", "read PATH", "find TEXT", "search past", "write PATH", "todo:", "ask ", "remember", "help"} {
		if !strings.Contains(text, w) {
			t.Errorf("the help does not tell about %q", w)
		}
	}
}

func TestReport(t *testing.T) {
	code := 3
	messages := []chat.Message{
		{Role: chat.RoleUser, Text: "$ a\n$ b"},
		{Role: chat.RoleAssistant, Calls: []chat.ToolCall{
			{ID: "1", Name: "terminal", Args: json.RawMessage(`{"command":"make test"}`)},
			{ID: "2", Name: "write_file", Args: json.RawMessage(`{"path":"x.txt"}`)},
			{ID: "3", Name: "terminal"},
		}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{
			CallID: "1", Name: "terminal", Text: strings.Repeat("line\n", 100) + "```\nlast\n[warning: fell back]", Backend: "local", ExitCode: &code, Took: 1234 * time.Millisecond,
			Warnings: []string{"fell back", "line"}, Spill: "/spill/1",
		}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "2", Name: "write_file", Diffs: []chat.FileDiff{{Path: "x.txt", Op: chat.FileCreated, Added: 2}}}},
		{Role: chat.RoleTool, Result: &chat.ToolResult{CallID: "3", Name: "terminal", Interrupted: true}},
	}
	text, calls := answer(provider.Request{Tools: tools, Messages: messages})
	if calls != nil {
		t.Error("a report runs something")
	}
	for _, want := range []string{
		"`$ make test` ended with exit code 3 on `local` after 1.2 s.", "\n````\nline\n", "lines more", "last\n````", "/spill/1",
		"**write_file** `x.txt` is done; created `x.txt` (+2 -0).", "**terminal** was interrupted.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	messages[2].Result.SpillCut = true
	if text, _ := answer(provider.Request{Tools: tools, Messages: messages}); strings.Contains(text, "full output") || !strings.Contains(text, "beginning of it is in `/spill/1`") {
		t.Errorf("what was cut is called full:\n%s", text)
	}
	if strings.Contains(text, "fell back") {
		t.Error("a warning that stands under the call is repeated")
	}
	if n := strings.Count(text, "\n"); n > 50 {
		t.Errorf("the report has %d lines", n)
	}
}

func TestStream(t *testing.T) {
	p := New()
	var text string
	var kinds []provider.ChunkKind
	begin := time.Now()
	for c, err := range p.Stream(t.Context(), ask("$ ls")) {
		if err != nil {
			t.Fatal(err)
		}
		text += c.Text
		kinds = append(kinds, c.Kind)
	}
	end := kinds[len(kinds)-3:]
	if end[0] != provider.ChunkToolStart || end[1] != provider.ChunkToolArgs || end[2] != provider.ChunkEnd {
		t.Errorf("kinds: %v", kinds)
	}
	if !strings.HasPrefix(text, "Running `ls`.") {
		t.Errorf("text: %q", text)
	}
	if took := time.Since(begin); took > testwait.Within(5*time.Second) {
		t.Errorf("it took %s", took)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range New().Stream(ctx, ask("help")) {
		cancel()
		last = err
	}
	var e *provider.Error
	if !errors.As(last, &e) || e.Class != provider.ClassCancelled {
		t.Errorf("got %v", last)
	}
}

func TestPiecesJoin(t *testing.T) {
	for _, text := range []string{"", "short", helpText, noModelText, strings.Repeat("世界", 40), strings.Repeat("x", 200)} {
		parts := pieces(text)
		if strings.Join(parts, "") != text {
			t.Errorf("the pieces of %q do not join to it", text)
		}
		for _, p := range parts {
			if !utf8.ValidString(p) {
				t.Errorf("%q cuts a character", p)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"$ ls\n@x $ y", "@a $ b", "```sh\nls\n```", "~~~~ py\n1\n~~~~", "find a in b in c", "ask ?|？|", "todo: ;;", "write x\n```\n```", "$ \\\n\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, q := range parse(text) {
			switch q.kind {
			case kindRun, kindPython:
				if strings.TrimSpace(q.text) == "" {
					t.Fatalf("an empty command in %q", text)
				}
				for line := range strings.SplitSeq(strings.TrimSpace(q.text), "\n") {
					if !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), line) {
						t.Fatalf("%q is run but was not asked for in %q", line, text)
					}
				}
			case kindFree, kindHelp:
				if q.backend != "" {
					t.Fatalf("a back end for nothing in %q", text)
				}
			default:
			}
		}
		_, calls := answer(ask(text))
		for _, c := range calls {
			if !json.Valid(c.Args) {
				t.Fatalf("bad arguments %q", c.Args)
			}
		}
	})
}
