package base

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hermes/ui/text"
)

// Width is how many cells a line of text may have: those of the terminal, and no limit for a file
// or a pipe.
func (c *Command) Width() int {
	if f, ok := c.Streams.Out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			return max(w, 40)
		}
	}
	return math.MaxInt32
}

// IsTerminal reports whether a person may be at the other end of a stream.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsFolder reports whether there is a folder at path.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func expandHome(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[1:])
	}
	if path == "" {
		return "."
	}
	return path
}

// JSONFlag gives a command --json; what it points to says whether it was given.
func JSONFlag(cmd *cobra.Command) *bool { return cmd.Flags().Bool("json", false, "print JSON") }

// TellDone says what was done: as JSON where that was asked for, else in words, on w.
func (c *Command) TellDone(w io.Writer, asJSON bool, done any, format string, args ...any) error {
	if asJSON {
		return WriteJSON(c.Streams.Out, done, true)
	}
	_, err := fmt.Fprintln(w, text.Sanitize(fmt.Sprintf(format, args...)))
	return err
}

// WriteJSON prints v, indented for a person's eye unless it is one of many lines.
func WriteJSON(w io.Writer, v any, indent bool) error {
	data, err := json.Marshal(v)
	if indent && err == nil {
		data, err = json.MarshalIndent(v, "", "  ")
	}
	if err != nil {
		return err
	}
	_, err = w.Write(append(escapeControls(data), '\n'))
	return err
}

// escapeControls writes DEL and the C1 controls of JSON text as \u00xx: some terminals obey them,
// and encoding/json lets them through.
func escapeControls(data []byte) []byte {
	var out []byte
	const hex = "0123456789abcdef"
	escape := func(r byte) { out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15]) }
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == 0x7f:
			escape(0x7f)
		case data[i] == 0xc2 && i+1 < len(data) && data[i+1] >= 0x80 && data[i+1] <= 0x9f:
			escape(data[i+1])
			i++
		default:
			out = append(out, data[i])
		}
	}
	return out
}
