package workbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"go.yaml.in/yaml/v3"

	"hermes/core/event"
	"hermes/ui"
)

// editConfig opens the real file, at the back end that is named: what the editor writes is read
// again by the watcher, which shows what is wrong with it.
func (w *workbench) editConfig(name string) tea.Cmd {
	path := w.options.Core.Config.Paths().ConfigFile
	return func() tea.Msg {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ui.Toast(event.Error, "the settings cannot be read: %v", err)
		}
		return ui.RunProcess{Cmd: editorCommand(path, settingLine(data, "terminal", "backends", name)), Done: func(err error) tea.Msg {
			if err != nil {
				return ui.Toast(event.Error, "editor: %v; set VISUAL or EDITOR to the editor that you want", err)
			}
			return ui.Toast(event.Info, "settings read again")
		}}
	}
}

// settingLine is the line of a key in YAML, or of the last part of its path that is there; 0 when
// nothing is.
func settingLine(data []byte, path ...string) int {
	var doc yaml.Node
	if len(data) == 0 || path[len(path)-1] == "" || yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return 0
	}
	line, node := 0, doc.Content[0]
	for _, key := range path {
		i := -1
		if node.Kind == yaml.MappingNode {
			i = slices.IndexFunc(node.Content, func(n *yaml.Node) bool { return n.Value == key && n.Kind == yaml.ScalarNode })
		}
		if i < 0 || i%2 != 0 || i+1 >= len(node.Content) {
			return line
		}
		line, node = node.Content[i].Line, node.Content[i+1]
	}
	return line
}

// editorCommand is the person's editor on a file, at a line where that editor is known to take one.
func editorCommand(path string, line int) *exec.Cmd {
	words := []string{"vi"}
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if w := strings.Fields(os.Getenv(name)); len(w) > 0 {
			words = w
		}
	}
	return exec.Command(words[0],
		append(words[1:], editorArguments(filepath.Base(words[0]), path, line)...)...)
}

// editorArguments is how an editor is told of a line.
func editorArguments(editor, path string, line int) []string {
	if line <= 0 {
		return []string{path}
	}
	switch editor {
	case "vi", "vim", "nvim", "gvim", "view", "nano", "pico", "emacs", "emacsclient", "joe", "jed", "kak", "micro", "mg", "ne", "mcedit", "gedit", "kate":
		return []string{fmt.Sprintf("+%d", line), path}
	case "code", "code-insiders", "codium", "cursor", "windsurf":
		return []string{"--goto", fmt.Sprintf("%s:%d", path, line)}
	case "hx", "helix", "subl", "zed":
		return []string{fmt.Sprintf("%s:%d", path, line)}
	default:
		return []string{path}
	}
}
