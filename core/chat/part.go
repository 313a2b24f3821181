package chat

import (
	"fmt"
	"math"
	"strings"
)

// Part is what a message or a result carries beside its text: a pasted block, a file, an image, a
// resource of a server.
type Part struct {
	Kind  PartKind `json:"kind"`
	Name  string   `json:"name"`            // shown to people and models
	Media string   `json:"media,omitempty"` // MIME type, by the bytes
	Path  string   `json:"path,omitempty"`  // the file on this machine that it was read from
	URI   string   `json:"uri,omitempty"`   // of a resource
	Text  string   `json:"text,omitempty"`  // content that is text, as sent
	// Foreign says that strangers wrote it, whoever put it there: what is remembered after it is
	// asked about.
	Foreign bool `json:"foreign,omitempty"`

	// Blob names content that is no text: its sha256 in hex. The store has the bytes.
	Blob   string `json:"blob,omitempty"`
	Size   int64  `json:"size,omitempty"`  // of the blob, in bytes
	Width  int    `json:"width,omitempty"` // of an image, in pixels
	Height int    `json:"height,omitempty"`

	// Data is the content on its way: into the store, which sets Blob, or out to a provider. It is
	// never stored here.
	Data []byte `json:"-"`
}

// PartKind tells how a Part reaches the model.
type PartKind string

// Kinds of part.
const (
	PartPaste    PartKind = "paste"
	PartFile     PartKind = "file"
	PartImage    PartKind = "image"
	PartSkill    PartKind = "skill"    // a skill that the person chose for this message
	PartResource PartKind = "resource" // of a server, by its URI; a link when it has no content
	PartQuote    PartKind = "quote"    // what the person said, in the summary that stands for it
)

// Binary reports whether the content of p is bytes, not text.
func (p Part) Binary() bool { return p.Blob != "" || p.Data != nil || p.Kind == PartImage }

// PDF is the media type of the documents that some models read as they are.
const PDF = "application/pdf"

// IsDocument reports whether p is a document whose pages a model can be shown. Its Text is what a
// model reads that is not shown them.
func (p Part) IsDocument() bool { return p.Kind == PartFile && p.Media == PDF && p.Binary() }

// What a model counts for the pages of a document beside its text, on average.
const (
	bytesPerPageToken = 100
	maxPageTokens     = 50_000
)

// pixelsPerToken is what models take an image for, on average.
const pixelsPerToken = 750

// Tokens is about what a model counts for p.
func (p Part) Tokens() int {
	n := len(p.Text) / 4
	if p.Kind == PartImage && p.Width > 0 && p.Height > 0 {
		n += 1 + min(p.Width, math.MaxInt16)*min(p.Height, math.MaxInt16)/pixelsPerToken
	}
	if p.IsDocument() {
		n += int(min(p.Size/bytesPerPageToken, maxPageTokens))
	}
	return n
}

// HandlePrefix begins every handle.
const HandlePrefix = "sha256:"

// Handle is a short name of the blob: enough to find it by in its session. "" when there is none.
func (p Part) Handle() string {
	const digits = 12
	if len(p.Blob) < digits {
		return ""
	}
	return HandlePrefix + p.Blob[:digits]
}

// Describe is the part on one line, for whoever cannot be shown it: image "chart.png", image/png,
// 800x600 px, 34 kB, sha256:...
func (p Part) Describe() string {
	words := append([]string{fmt.Sprintf("%s %q", p.Kind, p.Name)}, p.Facts()...)
	if handle := p.Handle(); handle != "" {
		words = append(words, handle)
	}
	return strings.Join(words, ", ")
}

// Facts are what is known of a part beside its name: media type, size in pixels and bytes, address.
func (p Part) Facts() []string {
	var out []string
	if p.Media != "" {
		out = append(out, p.Media)
	}
	if p.Width > 0 {
		out = append(out, fmt.Sprintf("%dx%d px", p.Width, p.Height))
	}
	if p.Size > 0 {
		out = append(out, formatSize(p.Size))
	}
	if p.URI != "" {
		out = append(out, p.URI)
	}
	return out
}

// MaxParts is how many parts one message or result carries.
const MaxParts = 32

// EachPart calls f with every part of m and of its result.
func (m *Message) EachPart(f func(*Part)) {
	for i := range m.Parts {
		f(&m.Parts[i])
	}
	if m.Result != nil {
		for i := range m.Result.Parts {
			f(&m.Result.Parts[i])
		}
	}
}

// Reduce returns m with its parts, or those of its result, as keep leaves them. Where keep returns
// a line, that stands below the text in the place of the part. Nothing that m shares with others is
// changed.
func (m Message) Reduce(keep func(p *Part) (line string)) Message {
	if m.Result != nil && len(m.Result.Parts) > 0 {
		r := *m.Result
		r.Text, r.Parts = reduceParts(r.Text, r.Parts, keep)
		m.Result = &r
	}
	m.Text, m.Parts = reduceParts(m.Text, m.Parts, keep)
	return m
}

func reduceParts(text string, parts []Part, keep func(*Part) string) (string, []Part) {
	var kept []Part
	for _, p := range parts {
		line := keep(&p)
		switch {
		case line == "":
			kept = append(kept, p)
		case text == "":
			text = line
		default:
			text += "\n" + line
		}
	}
	return text, kept
}

// Instead is the line that stands for p where it is not shown.
func (p Part) Instead(why string) string { return "[" + p.Describe() + ": " + why + "]" }

func formatSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_500:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
