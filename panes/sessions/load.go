package sessions

import (
	"context"
	"slices"
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

// reloadList lists or searches again, whatever the field says.
func (p *Pane) reloadList() tea.Cmd {
	if p.cancel != nil {
		p.cancel()
	}
	p.request++
	p.stale, p.pending = false, true
	query, request, store, which := strings.TrimLeft(p.query.String(), " "), p.request, p.store, p.archiveMode()
	ctx, cancel := context.WithTimeout(context.Background(), searchTimeout)
	p.cancel = cancel
	return func() tea.Msg {
		defer cancel()
		if strings.TrimSpace(query) != "" {
			found, err := store.Search(ctx, query, pageSize)
			return foundMsg{request: request, found: found, err: err}
		}
		infos, err := store.List(ctx, which, pageSize, 0)
		return foundMsg{request: request, found: foundOf(infos, 0), err: err}
	}
}

// isSearching reports whether words to look for stand in the field.
func (p *Pane) isSearching() bool { return strings.TrimSpace(p.query.String()) != "" }

// archiveMode is whether the plain list has archived sessions.
func (p *Pane) archiveMode() ArchiveMode {
	switch {
	case p.filter == showArchived:
		return OnlyArchived
	case p.archived:
		return IncludeArchived
	default:
		return HideArchived
	}
}

// nextPage asks for more rows of the plain list once the cursor comes near the end.
func (p *Pane) nextPage() tea.Cmd {
	if !p.more || p.isSearching() || p.cursor < len(p.rows)-p.h {
		return nil
	}
	p.more = false // one question at a time
	request, store, offset, which := p.request, p.store, len(p.listed), p.archiveMode()
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
		defer cancel()
		infos, err := store.List(ctx, which, pageSize, offset)
		return foundMsg{request: request, append: true, found: foundOf(infos, offset), err: err}
	}
}

func foundOf(infos []event.SessionInfo, offset int) Found {
	f := Found{Total: offset + len(infos), More: len(infos) == pageSize}
	for _, info := range infos {
		f.Hits = append(f.Hits, Hit{Info: info})
	}
	return f
}

// runSearch reads anew after the query has changed: the best hit is selected.
func (p *Pane) runSearch() tea.Cmd {
	p.cursor, p.top, p.opening = 0, 0, false
	return p.reloadList()
}

func (p *Pane) takeFound(m foundMsg) tea.Cmd {
	if m.request != p.request {
		return nil
	}
	p.memoOK = false
	if !m.append {
		p.pending = false
	}
	if m.err != nil {
		p.err, p.opening = m.err.Error(), false
		return nil
	}
	p.err = ""
	selected := p.selectedPlace()
	if m.append {
		p.listed = append(p.listed, p.dropKnown(m.found.Hits)...)
	} else {
		p.listed = dropEchoes(m.found.Hits)
	}
	p.total, p.more, p.partial = m.found.Total, m.found.More, m.found.Rebuilding
	if p.isSearching() { // a session counts once, however often it was found
		p.total = countDistinct(p.listed)
		p.more = p.more && p.total == len(p.listed)
	}
	p.arrangeRows()
	p.selectAgain(selected)
	p.followScreen()
	if p.opening {
		p.opening = false
		return p.openSelected(ui.Here)
	}
	return p.loadPreview()
}

// place names a row: a session may be listed with several hits.
type place struct {
	uid     string
	message int64
}

// selectedPlace is the row that should stay selected; none while a search has just begun at the
// top.
func (p *Pane) selectedPlace() place {
	r := p.currentHit()
	if r == nil || p.cursor == 0 {
		return place{}
	}
	return place{r.Info.UID, r.Message}
}

// dropKnown drops rows that a new session pushed onto the next page.
func (p *Pane) dropKnown(hits []Hit) []Hit {
	have := make(map[string]bool, len(p.listed))
	for _, r := range p.listed {
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

// dropEchoes drops hits in titles that only say what a message of the same session says: most
// titles are the beginning of the first prompt.
func dropEchoes(hits []Hit) []Hit {
	said := map[[2]string]bool{}
	for _, h := range hits {
		if h.Message != 0 && h.Snippet != "" {
			said[[2]string{h.Info.UID, h.Snippet}] = true
		}
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Message == 0 && said[[2]string{h.Info.UID, h.Snippet}] })
}

func (p *Pane) selectAgain(want place) {
	for i := range p.rows {
		if r := &p.rows[i]; r.Info.UID == want.uid && r.Message == want.message {
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
	loading  bool
	err      string
}

type previewMsg struct{ preview }

// loadPreview asks for the conversation at the place of the hit, when there is room to show it.
func (p *Pane) loadPreview() tea.Cmd {
	r := p.currentHit()
	if r == nil || p.previewWidth() == 0 || p.store == nil {
		return nil
	}
	uid, at := r.Info.UID, r.Message
	if p.preview.uid == uid && p.preview.at == at {
		return nil
	}
	p.preview, p.memoOK = preview{uid: uid, at: at, loading: true}, false
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
