package secret

// Stream hides secrets in text that comes in pieces: what may be the beginning of one is held back
// until more of it has come. At most the first four bytes of a known value are shown, and of a
// shape what comes before the part that is secret. The zero value is ready. Not safe for concurrent
// use.
type Stream struct {
	buf   []byte // context, then what is held back
	shown int    // bytes of buf that were shown already: context
}

const (
	context = 512      // bytes that are kept of what was shown
	held    = 32 << 10 // most that is held back; what is longer is hidden without waiting for its end
)

// Write takes the next piece and returns what may be shown now. The piece is not kept.
func (s *Stream) Write(p []byte) []byte {
	if !Enabled() {
		return append(s.Flush(), p...)
	}
	s.buf = append(s.buf, p...)
	return s.takeSafe(false)
}

// Flush returns what is left: nothing more will come.
func (s *Stream) Flush() []byte {
	if len(s.buf) == s.shown {
		return nil
	}
	return s.takeSafe(true)
}

func (s *Stream) takeSafe(final bool) []byte {
	text := string(s.buf)
	hits, begin := findSecrets(text, final)
	open := max(begin, s.shown)
	if final {
		open = len(text)
	}
	over := len(text)-open > held
	var ready []hit
	for _, h := range hits {
		switch {
		case h.to <= open:
			ready = append(ready, h)
		case h.from < open: // it goes on behind what is open: one of them waits for the other
			begin = min(begin, h.from)
			open = max(h.from, s.shown)
		}
	}
	if over { // hidden as it stands; what comes next is judged with its beginning as context
		out := []byte(hideHits(text[:open], ready, s.shown))
		out = append(out, Hidden...)
		s.buf = append(s.buf[:0], text[begin:begin+64]...)
		s.shown = len(s.buf)
		return out
	}
	out := hideHits(text[:open], ready, s.shown)
	keep := max(0, open-context)
	for _, h := range ready { // a secret is not cut in the context, or its rest would be taken for one
		if h.from < keep && keep < h.to {
			keep = h.to
		}
	}
	s.buf = append(s.buf[:0], text[keep:]...)
	s.shown = open - keep
	return []byte(out)
}

// Pieces is Redact for the two ends of a text whose middle is missing: a secret that the gap cuts
// is hidden too.
func Pieces(head, tail string) (string, string) {
	hits, at := findSecrets(head, false)
	var whole []hit
	for _, h := range hits {
		if h.to <= at {
			whole = append(whole, h)
		}
	}
	out := hideHits(head[:at], whole, 0)
	if at < len(head) {
		out += Hidden
	}
	if f := known.now.Load(); f != nil {
		if n := f.brokenAtStart(tail); n > 0 {
			return out, Hidden + Redact(tail[n:])
		}
	}
	return out, Redact(tail)
}
