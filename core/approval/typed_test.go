package approval

import (
	"testing"

	"hermes/core/intent"
)

func TestTyped(t *testing.T) {
	tests := []struct {
		name, prompt, command string
		want                  bool
	}{
		{"a line", "$ uname -a", "uname -a", true},
		{"one of several lines", "$ ls\n$ make", "make", true},
		{"a pasted log", "why does this fail?\n$ make\nmake: no rule", "make", false},
		{"with a back end", "@analytics $ pytest -q", "pytest -q", true},
		{"a fenced block", "```sh\nmake\nmake test\n```", "make\nmake test", true},
		{"goes on after a backslash", "$ echo a \\\n  b", "echo a \\\n  b", true},
		{"a block that is asked about", "what does it do?\n```sh\nrm -rf build\n```", "rm -rf build", false},
		{"two blocks", "```sh\nls\n```\n```sh\nmake\n```", "ls\n```\n```sh\nmake", false},
		{"more than was typed", "$ ls", "ls; rm -rf build", false},
		{"less than was typed", "$ git clean -n && git push", "git clean -n", false},
		{"only talked about", "what does uname -a print?", "uname -a", false},
		{"quoted in prose", "they wrote `$ rm -rf build`", "rm -rf build", false},
		{"a line of a block", "```\nls\nrm -rf build\n```", "rm -rf build", false},
		{"inside of an open fence", "```\nrm -rf build", "rm -rf build", false},
		{"nothing", "$ ", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wasTyped(tt.prompt, intent.Intent{Shell: &intent.Shell{Command: tt.command}}); got != tt.want {
				t.Errorf("typed(%q, %q) = %v", tt.prompt, tt.command, got)
			}
		})
	}
}

func TestOnlyCommands(t *testing.T) {
	for prompt, want := range map[string]bool{
		"$ ls":                                true,
		"run procedure code_review":           true,
		"please run procedure code_review":    false,
		"@here $ ls":                          true,
		"$ ls\n$ make":                        true,
		"```sh\nmake\n```":                    true,
		"$ ":                                  false,
		"```sh\n```":                          false,
		"":                                    false,
		"ls":                                  false,
		"what does `$ ls` do?":                false,
		"$ make\nmake: *** no rule. Why?":     false,
		"look at this:\n```sh\nrm -rf /\n```": false,
	} {
		if got := OnlyCommands(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestTypedBackend(t *testing.T) {
	for text, want := range map[string]struct {
		backend string
		wrong   bool
	}{
		"$ make": {}, "!! urgent": {}, "@main.go why?": {}, "$HOME is what": {}, "@box $ make": {backend: "box"},
		"$": {wrong: true}, " $  ": {wrong: true}, "!": {wrong: true},
	} {
		if backend, err := TypedBackend(text); backend != want.backend || (err != nil) != want.wrong {
			t.Errorf("%q: %q, %v", text, backend, err)
		}
	}
}

func TestExpandCommand(t *testing.T) {
	for text, want := range map[string]string{"!make": "$ make", "! make ": "$ make", "!! urgent": "!! urgent", "!": "!", "$ make": "$ make", " indented": " indented"} {
		if got := ExpandCommand(text); got != want {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
