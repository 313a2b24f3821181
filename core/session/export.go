package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/core/store"
)

// Format is a form of export.
type Format string

// Export formats.
const (
	Markdown Format = "markdown" // to read
	JSON     Format = "json"     // lossless; Import reads it
	ShareGPT Format = "sharegpt" // one line of JSON, as trainers of models use it
)

const (
	fileFormat  = "hermes-session"
	fileVersion = 2 // 2: contents
)

// file is the JSON form of a session.
type file struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Session  store.Session     `json:"session"`
	Prompt   string            `json:"system_prompt,omitempty"`
	Meta     map[string]string `json:"meta,omitempty"`
	Messages []fileMessage     `json:"messages"`
	Contents map[string][]byte `json:"contents,omitempty"` // what parts hold, by the name in their "blob", in base64
}

// fileMessage adds a message's state.
type fileMessage struct {
	store.Packed
	State string `json:"state,omitempty"` // "", "replaced" by a summary, "undone"
}

const (
	stateReplaced = "replaced"
	stateUndone   = "undone"
)

// Export writes a session to w. Markdown and ShareGPT hold what is visible, JSON holds everything.
// Images are in the file: in JSON with all other contents, in Markdown as references at its end, in
// ShareGPT as a line of text.
func (s *Service) Export(ctx context.Context, uid string, w io.Writer, f Format) error {
	x, err := s.loadFile(ctx, uid)
	if err != nil {
		return err
	}
	switch f {
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(x)
	case Markdown:
		err = writeMarkdown(w, x)
	case ShareGPT:
		err = writeShareGPT(w, x)
	default:
		return fmt.Errorf("no export format is called %q: use markdown, json or sharegpt", f)
	}
	if err != nil {
		return fmt.Errorf("export session %s as %s: %w", uid, f, err)
	}
	return nil
}

func (s *Service) loadFile(ctx context.Context, uid string) (x file, err error) {
	x = file{Format: fileFormat, Version: fileVersion}
	if x.Session, err = s.st.Session(ctx, uid); err != nil {
		return x, err
	}
	if x.Prompt, err = s.st.Prompt(ctx, uid); err != nil {
		return x, err
	}
	if x.Meta, err = s.st.Meta(ctx, uid); err != nil {
		return x, err
	}
	msgs, _, err := s.st.Messages(ctx, uid, store.MessageQuery{Hidden: true, Limit: store.All})
	if err != nil {
		return x, err
	}
	x.Messages = make([]fileMessage, len(msgs))
	for i, m := range msgs {
		cleanMessage(&m.Message)
		x.Messages[i].Packed = store.Pack(&m.Message)
		switch {
		case m.Compacted:
			x.Messages[i].State = stateReplaced
		case !m.Active:
			x.Messages[i].State = stateUndone
		}
		x.addContents(&m.Message, s.st.Content)
	}
	return x, nil
}

// addContents takes up what the parts of m hold. What is missing or damaged is left out: the part
// says what it was.
func (x *file) addContents(m *chat.Message, read func(blob string) ([]byte, error)) {
	m.EachPart(func(p *chat.Part) {
		if p.Blob == "" || x.Contents[p.Blob] != nil {
			return
		}
		data, err := read(p.Blob)
		if err != nil {
			return
		}
		if x.Contents == nil {
			x.Contents = map[string][]byte{}
		}
		x.Contents[p.Blob] = data
	})
}

// visibleMessages returns the messages that a person sees.
func (x *file) visibleMessages() []chat.Message {
	var out []chat.Message
	for _, m := range x.Messages {
		if m.State != stateUndone {
			out = append(out, *m.Unpack())
		}
	}
	return out
}

// Import reads what Export wrote as JSON: one session or several after each other. A session whose
// uid is here already is left alone and not returned.
func (s *Service) Import(ctx context.Context, r io.Reader) ([]event.SessionInfo, error) {
	dec := json.NewDecoder(r)
	var out []event.SessionInfo
	for n := 1; ; n++ {
		var x file
		err := dec.Decode(&x)
		if err == io.EOF { //nolint:errorlint // Decode returns it bare
			break
		}
		if err != nil {
			return out, fmt.Errorf("import: session %d in the file is not readable: %w", n, err)
		}
		if x.Format != fileFormat || x.Version < 1 || x.Version > fileVersion {
			return out, fmt.Errorf("import: session %d is not a hermes export that this version knows (format %q, version %d)", n, x.Format, x.Version)
		}
		info, added, err := s.importFile(ctx, x)
		if err != nil {
			return out, fmt.Errorf("import: session %s: %w", x.Session.UID, err)
		}
		if added {
			s.publish(info.UID, event.SessionOpened{Info: info, How: event.OpeningImport})
			out = append(out, info)
		}
	}
	return out, nil
}

func (s *Service) importFile(ctx context.Context, x file) (info event.SessionInfo, added bool, err error) {
	in := store.Import{Session: x.Session, Prompt: x.Prompt, Meta: x.Meta, Contents: x.Contents, Messages: make([]store.StoredMessage, len(x.Messages))}
	if in.Session.UID == "" {
		in.Session.UID = newUID(s.now())
	}
	if in.Session.Kind == "" {
		in.Session.Kind = string(KindUser)
	}
	if in.Session.Started.IsZero() {
		in.Session.Started = s.now().Truncate(time.Millisecond)
	}
	for i, m := range x.Messages {
		in.Messages[i] = store.StoredMessage{Message: *m.Unpack(), Active: m.State == "", Compacted: m.State == stateReplaced}
	}
	cleanImport(&in)
	if added, err = s.st.ImportSession(ctx, in); err != nil || !added {
		return event.SessionInfo{}, false, err
	}
	info, err = s.Get(ctx, in.Session.UID)
	return info, true, err
}
