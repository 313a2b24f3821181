package sessions

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"hermes/core/chat"
	"hermes/core/event"
	"hermes/ui"
)

// Time limits of the pane's questions to the store.
const (
	listTimeout     = 5 * time.Second
	searchTimeout   = 5 * time.Second
	changeTimeout   = 20 * time.Second
	previewMessages = 12
)

// foundMsg answers the newest list or search; an older one is dropped by its number.
type foundMsg struct {
	request int
	append  bool
	found   Found
	err     error
}

// reload lists or searches again, whatever the field says.
func (p *Pane) reload() tea.Cmd {
	if p.cancel != nil {
		p.cancel()
	}
	p.request++
	p.stale = false
	query, request, store := strings.TrimSpace(p.query.String()), p.request, p.store
	ctx, cancel := context.WithTimeout(context.Background(), searchTimeout)
	p.cancel = cancel
	return func() tea.Msg {
		defer cancel()
		if query != "" {
			found, err := store.Search(ctx, query, pageSize)
			return foundMsg{request: request, found: found, err: err}
		}
		infos, err := store.List(ctx, pageSize, 0)
		return foundMsg{request: request, found: listed(infos, 0), err: err}
	}
}

// nextPage asks for more rows of the plain list once the cursor comes near the end.
func (p *Pane) nextPage() tea.Cmd {
	if !p.more || strings.TrimSpace(p.query.String()) != "" || p.cursor < len(p.rows)-p.h {
		return nil
	}
	p.more = false // one question at a time
	request, store, offset := p.request, p.store, len(p.rows)
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
		defer cancel()
		infos, err := store.List(ctx, pageSize, offset)
		return foundMsg{request: request, append: true, found: listed(infos, offset), err: err}
	}
}

func listed(infos []event.SessionInfo, offset int) Found {
	f := Found{Total: offset + len(infos), More: len(infos) == pageSize}
	for _, info := range infos {
		f.Hits = append(f.Hits, Hit{Info: info})
	}
	return f
}

func (p *Pane) take(m foundMsg) tea.Cmd {
	if m.request != p.request {
		return nil
	}
	p.memoOK = false
	if m.err != nil {
		p.err = m.err.Error()
		return nil
	}
	p.err = ""
	selected := ""
	if r := p.current(); r != nil {
		selected = r.Info.UID
	}
	if m.append {
		p.rows = append(p.rows, p.unseen(m.found.Hits)...)
	} else {
		p.rows = m.found.Hits
		p.cursor, p.top = 0, 0
	}
	p.total, p.more, p.partial = m.found.Total, m.found.More, m.found.Rebuilding
	p.reselect(selected)
	return p.loadPreview()
}

// unseen drops rows that a new session pushed onto the next page.
func (p *Pane) unseen(hits []Hit) []Hit {
	have := make(map[string]bool, len(p.rows))
	for _, r := range p.rows {
		have[r.Info.UID] = true
	}
	out := hits[:0]
	for _, h := range hits {
		if !have[h.Info.UID] {
			out = append(out, h)
		}
	}
	return out
}

func (p *Pane) reselect(uid string) {
	for i := range p.rows {
		if p.rows[i].Info.UID == uid {
			p.cursor = i
			return
		}
	}
	p.cursor = max(0, min(p.cursor, len(p.rows)-1))
}

// preview is a look into the session under the cursor.
type preview struct {
	uid      string
	at       int64
	messages []chat.Message
	err      string
}

type previewMsg struct{ preview }

// loadPreview asks for the conversation at the place of the hit, when there is room to show it.
func (p *Pane) loadPreview() tea.Cmd {
	r := p.current()
	if r == nil || p.previewWidth() == 0 {
		return nil
	}
	uid, at := r.Info.UID, r.Message
	if p.preview.uid == uid && p.preview.at == at {
		return nil
	}
	p.preview = preview{uid: uid, at: at}
	store := p.store
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
		defer cancel()
		msgs, err := store.Preview(ctx, uid, at, previewMessages)
		out := preview{uid: uid, at: at, messages: msgs}
		if err != nil {
			out.err = err.Error()
		}
		return previewMsg{out}
	}
}

// change runs f on the session under the cursor and says how it went.
func (p *Pane) change(done string, f func(ctx context.Context, h Hit) error) tea.Cmd {
	r := p.current()
	if r == nil {
		return nil
	}
	hit := *r
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
		defer cancel()
		if err := f(ctx, hit); err != nil {
			return ui.ShowToast{Level: event.Error, Text: err.Error()}
		}
		return ui.ShowToast{Level: event.Info, Text: done}
	}
}
