package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"hermes/core/intent"
)

// Spec describes a tool. It must not change after registration: see Registry.Replace.
type Spec struct {
	Name        string
	Toolset     string
	Description string          // Markdown, for the model
	Schema      json.RawMessage // JSON schema of the arguments: an object, additionalProperties false

	// Owner is who brought the tool: "" is this program, else a server or a plugin. What a foreign
	// tool says of itself is a hint: see Means. Trusted says that the person believes the hints of
	// this owner.
	Owner   string
	Trusted bool
	// Title is what people are told that a foreign tool is, in the words of who set its owner up:
	// "search of the MCP server github". Consent is what the person's settings say about asking.
	Title   string
	Consent intent.Consent
	// Intent says what a call with validated arguments means. Nobody else looks into them. nil says
	// nothing: then every call is asked about. Callers use Means.
	Intent func(args json.RawMessage) intent.Intent
	// Describe replaces Description when what a tool is good for depends on the tools of a session,
	// which it is given. The same tools must give the same text. May be nil.
	Describe func(session []Spec) string
	// Serial tools never run beside another (clarify).
	Serial bool
	// ForeignText says that results hold the words of strangers: web pages. Those of foreign tools
	// always do: see Strangers.
	ForeignText bool
	// Available hides the tool when it returns an error; the error says why. nil means always
	// available.
	Available func() error
	// Preview returns what an approval shows: detail (the command or a summary) and, for file
	// changes, a unified diff made without changing anything. nil means the Intent's Detail.
	Preview func(ctx context.Context, c Call) (detail, diff string)
	// Refuse says for the model why a call cannot be carried out at all, "" when it can: nobody is
	// asked about what would fail. nil means that only Run knows.
	Refuse func(ctx context.Context, c Call) string
	// Replace puts another command in place of that of a call: a person may write their own instead
	// of the model's. nil when there is none.
	Replace func(args json.RawMessage, command string) (json.RawMessage, error)
	// MaxResult is the number of characters that the model may see; 0 means the registry's: see
	// Registry.Limit.
	MaxResult int
}

// Means says what a call with these validated arguments means, as far as it may be believed. Of a
// foreign tool only what is for the eye counts, and that it reads when its owner is trusted: no
// text in its arguments is a command or a path to us.
func (s Spec) Means(args json.RawMessage) intent.Intent {
	var in intent.Intent
	if s.Intent != nil {
		in = s.Intent(args)
	}
	if s.Owner == "" {
		return in
	}
	reads := in.Reads && s.Trusted && s.Consent != intent.Confirm
	return intent.Intent{Reads: reads, Gist: in.Gist, Detail: indentJSON(args), Unread: true, Consent: s.Consent}
}

func indentJSON(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, args, "", "  ") != nil {
		return string(args)
	}
	return b.String()
}

// BringsForeignText reports whether results hold the words of strangers.
func (s Spec) BringsForeignText() bool { return s.ForeignText || s.Owner != "" }

// Definition is a hash of what a model is told about the tool. What was decided about a foreign
// tool holds for one only.
func (s Spec) Definition() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", s.Owner, s.Description, s.Schema)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
