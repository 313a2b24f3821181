package store

import (
	"encoding/json"
	"strings"

	"hermes/core/chat"
)

// callsText is what was asked of tools, in words: each call's name, and the beginning of its
// arguments' values.
func callsText(calls []chat.ToolCall) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Name + "\n" + clipBytes(argWords(string(c.Args))+c.Invalid, toolMax) + "\n")
	}
	return b.String()
}

// argWords returns the values in a JSON text, one a line and without their names. What is no JSON
// comes back as it is: a model may send anything.
func argWords(args string) string {
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var words []string
	var objects []bool // for each bracket that is open: whether it is an object
	name := false      // the next string is the name of a value
	for {
		token, err := dec.Token()
		if err != nil {
			return strings.TrimSpace(strings.Join(append(words, args[dec.InputOffset():]), "\n"))
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				objects = append(objects, v == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
			name = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string:
			if name {
				name = false
				continue
			}
			words = append(words, v)
		case json.Number:
			words = append(words, v.String())
		}
		name = len(objects) > 0 && objects[len(objects)-1]
	}
}
