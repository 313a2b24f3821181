// The command picture reads the lines of a terminal with their colours, as tmux prints them with
// capture-pane -e -p, and writes them as an SVG.
//
//	tmux capture-pane -e -p | go run ./ui/uitest/picture -w 140 -h 34 "what it shows" > screen.svg
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"hermes/ui/uitest/svg"
	"hermes/ui/uitest/vt"
)

func main() {
	w, h := flag.Int("w", 80, "columns"), flag.Int("h", 24, "rows")
	flag.Parse()
	if err := draw(*w, *h, strings.Join(flag.Args(), " ")); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func draw(w, h int, said string) error {
	lines, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	term := vt.New(w, h)
	if _, err := io.WriteString(term, strings.ReplaceAll(strings.TrimRight(string(lines), "\n"), "\n", "\x1b[0m\r\n")); err != nil {
		return err
	}
	_, err = os.Stdout.Write(svg.Picture(term.Rows(), said))
	return err
}
