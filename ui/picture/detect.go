package picture

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience is how long a terminal may take to say what it knows.
const patience = time.Second

// Questions to a terminal: for kitty's graphics, and its name; then the size of a cell, and last
// what every terminal answers. Tmux takes the first for the title of its window.
const (
	ofTerminals = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\" + "\x1b[>q"
	ofAll       = "\x1b[16t" + "\x1b[c"
)

var attributes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[\?([0-9;]*)c`) })

var cellSize = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[6;(\d{1,4});(\d{1,4})t`) })

// Ask asks the terminal behind w, whose input comes from keys, what it knows. In tmux only what
// tmux itself draws counts. What comes after the answers stays in keys.
func Ask(w io.Writer, keys <-chan []byte, inTmux bool) (best Protocol, cellWidth, cellHeight int) {
	questions := ofTerminals + ofAll
	if inTmux {
		questions = ofAll
	}
	if _, err := io.WriteString(w, questions); err != nil {
		return Blocks, 0, 0
	}
	var said bytes.Buffer
	late := time.NewTimer(patience)
	defer late.Stop()
	for !attributes().Match(said.Bytes()) && said.Len() < 1<<16 {
		select {
		case b, open := <-keys:
			if !open {
				return Blocks, 0, 0
			}
			said.Write(b)
		case <-late.C:
			return Read(said.String(), inTmux)
		}
	}
	return Read(said.String(), inTmux)
}

// Read understands what a terminal answered.
func Read(said string, inTmux bool) (best Protocol, cellWidth, cellHeight int) {
	if m := cellSize().FindStringSubmatch(said); m != nil {
		cellHeight, _ = strconv.Atoi(m[1]) // digits
		cellWidth, _ = strconv.Atoi(m[2])
	}
	best = Blocks
	if m := attributes().FindStringSubmatch(said); m != nil {
		for _, a := range strings.Split(m[1], ";") {
			if a == "4" {
				best = Sixel
			}
		}
	}
	if inTmux {
		return best, cellWidth, cellHeight
	}
	if strings.Contains(said, "iTerm2") || strings.Contains(said, "WezTerm") {
		best = ITerm
	}
	if strings.Contains(said, "\x1b_Gi=31;OK") {
		best = Kitty
	}
	return best, cellWidth, cellHeight
}
