package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/core/atomicfile"
	"hermes/core/injection"
	"hermes/core/secret"
)

// Pin is how a definition relates to the one that the person has seen.
type Pin string

// States of a definition.
const (
	Pinned     Pin = "pinned"     // it is the one that was seen
	Changed    Pin = "changed"    // it is another one: the tool is blocked
	Suspicious Pin = "suspicious" // its text gives orders: the tool is blocked until it was seen
)

// definition is all that a server says about a tool, without what nobody can see.
type definition struct {
	Name        string               `json:"name"`
	Title       string               `json:"title,omitempty"`
	Description string               `json:"description,omitempty"`
	Input       any                  `json:"inputSchema,omitempty"`
	Output      any                  `json:"outputSchema,omitempty"`
	Annotations *sdk.ToolAnnotations `json:"annotations,omitempty"`
}

// maxDescription bounds what a model is told about one tool, in bytes.
const maxDescription = 8 << 10

func definitionOf(t *sdk.Tool) definition {
	clean := func(s string) string {
		s, _ = injection.Clean(s)
		if len(s) > maxDescription {
			s = strings.ToValidUTF8(s[:maxDescription], "") + " […]"
		}
		return s
	}
	return definition{
		Name: t.Name, Title: clean(t.Title), Description: clean(t.Description),
		Input: cleanTexts(t.InputSchema, clean), Output: t.OutputSchema, Annotations: t.Annotations,
	}
}

// cleanTexts applies clean to every text of a JSON value.
func cleanTexts(v any, clean func(string) string) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = cleanTexts(v[i], clean)
		}
	case map[string]any:
		for k, x := range v {
			v[k] = cleanTexts(x, clean)
		}
	}
	return v
}

// contentHash is that of the canonical JSON: keys of objects are sorted.
func (d definition) contentHash() string {
	data, err := json.Marshal(d)
	if err != nil {
		data = []byte(d.Name + "\x00" + d.Description)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sure is how sure the model of injected text has to be: definitions are written like orders, those
// of the official servers up to 0.81.
const sure = 0.9

// findOrders says what in the definition gives orders to the agent; "" is nothing.
func (d definition) findOrders() string {
	texts := []string{d.Title, d.Description}
	collectTexts(d.Input, &texts)
	return ordersIn(texts...)
}

// ordersIn says what in texts of a server gives orders to the agent; "" is nothing.
func ordersIn(texts ...string) string {
	for _, text := range texts {
		for _, f := range injection.ScanDocument(text) {
			if f.Score == 0 || f.Score >= sure {
				return f.Reason
			}
		}
	}
	return ""
}

// collectTexts gathers the texts of a schema that say something: descriptions, and what else has
// the length of a sentence, such as a default or the name of an argument.
func collectTexts(v any, out *[]string) {
	const sentence = 3 // words
	switch v := v.(type) {
	case string:
		if len(strings.Fields(v)) >= sentence {
			*out = append(*out, v)
		}
	case map[string]any:
		for key, x := range v {
			if text, ok := x.(string); ok && (key == "description" || key == "title") {
				*out = append(*out, text)
				continue
			}
			collectTexts(key, out)
			collectTexts(x, out)
		}
	case []any:
		for _, x := range v {
			collectTexts(x, out)
		}
	}
}

// readableText is the definition for the eyes of a person.
func (d definition) readableText() string {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return d.Description
	}
	return strings.ReplaceAll(secret.Clean(string(data)), `\n`, "\n    ") + "\n"
}

// pin is a definition as the person saw it.
type pin struct {
	Hash string     `json:"hash"`
	Def  definition `json:"definition"`
}

// pins are the definitions that were seen, by server and tool, in a file that several programs may
// use at once.
type pins struct {
	path string
	mu   sync.Mutex
}

type pinFile struct {
	Version int                       `json:"version"`
	Servers map[string]map[string]pin `json:"servers"`
}

func (p *pins) readFile() (pinFile, error) {
	f := pinFile{Version: 1, Servers: map[string]map[string]pin{}}
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("what servers' tools were seen cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s is not valid JSON, so every tool of a server counts as changed; mend it, or delete it to see all of them anew: %w", p.path, err)
	}
	if f.Servers == nil {
		f.Servers = map[string]map[string]pin{}
	}
	return f, nil
}

// pinsOf returns what was seen of a server. The first time a server is met, what it offers is
// pinned as it is: it is shown by `hermes mcp` and the screen, and asked about when it is called.
func (p *pins) pinsOf(server string, offered []definition) (map[string]pin, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := p.readFile()
	if err != nil {
		return nil, err
	}
	if seen, known := f.Servers[server]; known {
		fresh := map[string]definition{}
		for _, d := range offered {
			if _, has := seen[d.Name]; !has && d.findOrders() == "" {
				fresh[d.Name] = d
			}
		}
		if len(fresh) == 0 {
			return seen, nil
		}
		return p.changePins(server, func(list map[string]pin) {
			for name, d := range fresh {
				list[name] = pin{d.contentHash(), d}
			}
		})
	}
	return p.changePins(server, func(list map[string]pin) {
		for _, d := range offered {
			if d.findOrders() == "" {
				list[d.Name] = pin{d.contentHash(), d}
			}
		}
	})
}

// acceptSeen pins definitions that the person has seen.
func (p *pins) acceptSeen(server string, seen []definition) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.changePins(server, func(list map[string]pin) {
		for _, d := range seen {
			list[d.Name] = pin{d.contentHash(), d}
		}
	})
	return err
}

// changePins rewrites what is kept of a server while no other program does.
func (p *pins) changePins(server string, change func(map[string]pin)) (map[string]pin, error) {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.Lock(p.path + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	f, err := p.readFile()
	if err != nil {
		return nil, err
	}
	list := f.Servers[server]
	if list == nil {
		list = map[string]pin{}
	}
	change(list)
	f.Servers[server] = list
	return list, atomicfile.WriteJSON(p.path, f)
}

// diffOf shows what a change would replace.
func diffOf(tool string, before, after string) string {
	return udiff.Unified(tool+" (seen)", tool+" (now)", before, after)
}
