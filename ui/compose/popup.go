package compose

import (
	"strconv"
	"strings"

	"hermes/ui/text"
)

// Item is one offered completion.
type Item struct {
	Text  string // what stands in the prompt once it is taken
	Label string // what the popup shows; Text when empty
	Hint  string // dim, at the right: what it does, or why it cannot be used
	Off   bool   // shown, but cannot be taken
	Guess bool   // it fits loosely: enter takes it only from somebody who chose it
}

// maxPopup is how many rows the popup shows.
const maxPopup = 8

// Popup is the list of completions.
type Popup struct {
	items    []Item
	at, top  int
	token    Token  // what the items complete
	moved    bool   // the person chose in it
	argument bool   // it offers an argument that may be left out
	muted    string // token that the person closed the popup for
}

func (p *Popup) open() bool { return len(p.items) > 0 }

// chosen reports that enter would take item i: the first one, unless it is a guess, or where the
// person moved to.
func (p *Popup) chosen(i int) bool { return i == p.at && (p.moved || !p.items[i].Guess) }

func (p *Popup) close() { p.items, p.at, p.top, p.moved = nil, 0, 0, false }

// Token is what can be completed: the word at the cursor, or a slash command's argument.
type Token struct {
	Kind    byte   // '/', ' ' (argument of Command), '@', or '$' (word of a command line); 0 for nothing
	Command string // of an argument
	Text    string // without its mark
	from    int
	to      int
}

// Token returns what can be completed at the cursor.
func (c *Composer) Token() Token {
	s, at := c.buf.s, c.buf.at
	head := s[:at]
	if strings.HasPrefix(head, "/") && !strings.Contains(head, "\n") {
		name, arg, hasArg := strings.Cut(head[1:], " ")
		if !hasArg {
			return Token{Kind: '/', Text: name, to: at}
		}
		return Token{Kind: ' ', Command: name, Text: arg, from: at - len(arg), to: at}
	}
	i := strings.LastIndexAny(head, " \n\t") + 1
	if word := head[i:]; strings.HasPrefix(word, "@") {
		return Token{Kind: '@', Text: word[1:], from: i, to: at}
	}
	if (strings.HasPrefix(s, "$") || strings.HasPrefix(s, "!")) && i > 0 {
		return Token{Kind: '$', Text: head[i:], from: i, to: at}
	}
	return Token{}
}

// Offer shows completions for a token; it is ignored when the person has typed on.
func (c *Composer) Offer(t Token, items []Item) {
	if now := c.Token(); now != t || c.popup.muted == c.buf.s && c.buf.s != "" || isOnlyOffer(t, items) {
		c.popup.close()
		return
	}
	if c.popup.muted != c.buf.s {
		c.popup.muted = ""
	}
	c.popup.items, c.popup.token = items, t
	c.popup.at, c.popup.top, c.popup.moved = 0, 0, false
	c.popup.argument = t.Kind == ' ' && t.Text == ""
}

// isOnlyOffer reports that there is nothing to choose: the one offer is what stands there.
func isOnlyOffer(t Token, items []Item) bool {
	return t.Kind == 0 || len(items) == 1 && strings.TrimSpace(items[0].Text) == strings.TrimSpace(tokenMark(t)+t.Text)
}

func tokenMark(t Token) string {
	if t.Kind == ' ' || t.Kind == '$' {
		return ""
	}
	return string(rune(t.Kind))
}

// Completing reports that the popup is open.
func (c *Composer) Completing() bool { return c.popup.open() }

func (c *Composer) popupKey(key string) Result {
	p := &c.popup
	switch key {
	case "up", "ctrl+p", "shift+tab":
		p.at, p.moved = (p.at+len(p.items)-1)%len(p.items), true
	case "down", "ctrl+n":
		if p.chosen(p.at) {
			p.at = (p.at + 1) % len(p.items)
		}
		p.moved = true
	case "tab":
		c.takeOffer()
	case "enter":
		t := c.Token()
		stands := strings.TrimSpace(p.items[p.at].Text) == strings.TrimSpace(tokenMark(t)+t.Text)
		if p.items[p.at].Off || stands || !p.chosen(p.at) || t != p.token || p.argument && !p.moved {
			p.close()
			return Ignored
		}
		c.takeOffer()
	case "esc":
		p.muted = c.buf.s
		p.close()
	default:
		return Ignored
	}
	p.top = min(max(p.top, p.at-maxPopup+1), p.at)
	return Changed
}

// PopupKey reports the keys that an open popup takes.
func PopupKey(key string) bool {
	switch key {
	case "tab", "shift+tab", "up", "down", "ctrl+p", "ctrl+n", "enter", "esc":
		return true
	default:
		return false
	}
}

func (c *Composer) takeOffer() {
	p := &c.popup
	if it := p.items[p.at]; !it.Off && c.Token() == p.token { // else the person has typed on since
		c.buf.Replace(p.token.from, p.token.to, it.Text)
	}
	p.close()
}

// TakeOnly takes the offer when there is only one.
func (c *Composer) TakeOnly() {
	if len(c.popup.items) == 1 {
		c.takeOffer()
	}
}

// Unmute lets completions be offered again for what the person closed them for.
func (c *Composer) Unmute() { c.popup.muted = "" }

// popupView draws the popup w cells wide.
func (c *Composer) popupView(w, room int) []string {
	p := &c.popup
	n := min(maxPopup, len(p.items), room)
	if n <= 0 {
		return nil
	}
	p.top = min(max(p.top, p.at-n+1), p.at)
	wide := 0
	for _, it := range p.items[p.top : p.top+min(n, len(p.items)-p.top)] {
		wide = max(wide, text.Width(itemLabel(it)))
	}
	wide = min(wide, w-4)
	out := make([]string, 0, n)
	for i := p.top; i < len(p.items) && len(out) < n; i++ {
		w := w
		tag := ""
		if more := len(p.items) - i - 1; more > 0 && len(out) == n-1 {
			tag = " " + c.Styles.Glyphs.Down + " " + strconv.Itoa(more) + " more "
			if w -= text.Width(tag); w < wide+4 {
				w, tag = w+text.Width(tag), ""
			}
		}
		out = append(out, c.popupRow(i, wide, w)+c.Styles.Dim.Render(tag))
	}
	return out
}

// popupRow draws offer i, its name in wide of the w cells.
func (c *Composer) popupRow(i, wide, w int) string {
	it := c.popup.items[i]
	name := text.Fit(text.Truncate(itemLabel(it), wide, c.Styles.Glyphs.Ellipsis), wide)
	hint := text.Truncate(strings.ReplaceAll(text.Sanitize(it.Hint), "\n", " "), max(0, w-wide-4), c.Styles.Glyphs.Ellipsis)
	switch {
	case c.popup.chosen(i):
		return c.Styles.Selection.Inline(true).Render(text.Fit(c.Styles.Glyphs.Closed+" "+name+"  "+hint, w))
	case it.Off:
		return text.Fit("  "+c.Styles.Faint.Render(name+"  "+hint), w)
	default:
		return text.Fit("  "+name+"  "+c.Styles.Dim.Render(hint), w)
	}
}

func itemLabel(it Item) string {
	if it.Label != "" {
		return text.Sanitize(it.Label)
	}
	return text.Sanitize(it.Text)
}
