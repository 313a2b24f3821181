package shelltext

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is one simple command of a text.
type Command struct {
	Words      []Word   // none when only a group of commands is put into the background
	Background bool     // it ends in &
	Through    []string // the programs that start it, from the outside: sudo, sh ...
}

// maxDepth bounds commands inside of commands.
const maxDepth = 12

// maxText is the length of a text that is read.
const maxText = 64 << 10

// Commands lists every simple command of a text in its order: also those in substitutions,
// functions, behind wrappers and in sh -c.
func Commands(text string) ([]Command, error) {
	c := &collector{}
	err := c.collectScript(text, nil)
	return c.out, err
}

type collector struct{ out []Command }

func (c *collector) collectScript(text string, through []string) error {
	if len(text) > maxText || len(through) > maxDepth {
		return nil
	}
	file, err := Parse(text)
	if err != nil {
		return err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		stmt, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		if call, simple := stmt.Cmd.(*syntax.CallExpr); simple {
			c.collectCall(call, stmt.Background, through)
		} else if stmt.Background {
			c.out = append(c.out, Command{Background: true, Through: through})
		}
		return true
	})
	return nil
}

func (c *collector) collectCall(e *syntax.CallExpr, background bool, through []string) {
	var words []Word
	for _, w := range e.Args {
		words = append(words, Read(w)...)
	}
	if len(words) > 0 {
		c.addCommand(words, background, through)
	}
}

func (c *collector) addCommand(words []Word, background bool, through []string) {
	c.out = append(c.out, Command{Words: words, Background: background, Through: through})
	if len(through) > maxDepth {
		return
	}
	in := Starts(words)
	inside := slices.Concat(through, []string{path.Base(words[0].Text)})
	for _, argv := range in.Commands {
		c.addCommand(argv, background, inside)
	}
	for _, s := range in.Scripts {
		_ = c.collectScript(strings.ReplaceAll(s.Text.Text, string(Home), "~"), inside) // what cannot be read has no commands
	}
}
