package v4a

import (
	"errors"
	"fmt"
	"strings"

	"hermes/core/tool/file/fuzzy"
)

// HunkError says which hunk does not fit the file.
type HunkError struct {
	Number int // 1-based, within the file
	Line   int // of the patch
	Err    error
}

func (e *HunkError) Error() string {
	return fmt.Sprintf("hunk %d (patch line %d): %v", e.Number, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *HunkError) Unwrap() error { return e.Err }

// Apply applies hunks in order to content, whose lines end in "\n". Each hunk is looked for below the one before it.
// Notes tell which hunks did not match exactly. A last line without a line end stays without.
func Apply(content string, hunks []Hunk) (text string, notes []string, err error) {
	open := content != "" && !strings.HasSuffix(content, "\n")
	if open {
		content += "\n"
	}
	at := 0 // everything before is done
	for i, h := range hunks {
		rest := content[at:]
		skip, err := seek(rest, h.Anchors)
		if err != nil {
			return "", nil, &HunkError{i + 1, h.At, err}
		}
		done, next, how, err := place(rest[skip:], h, at+skip > 0 || skip > 0)
		if err != nil {
			return "", nil, &HunkError{i + 1, h.At, err}
		}
		if how != "" {
			notes = append(notes, fmt.Sprintf("hunk %d matched by %s", i+1, how))
		}
		content = content[:at+skip] + done
		at += skip + next
	}
	if open {
		content = strings.TrimSuffix(content, "\n")
	}
	return content, notes, nil
}

// seek returns the offset behind the last anchor line: equal lines first, then trimmed, then lines that contain it.
func seek(text string, anchors []string) (int, error) {
	at := 0
	for _, a := range anchors {
		n := -1
		for _, same := range []func(line string) bool{
			func(line string) bool { return line == a },
			func(line string) bool { return strings.TrimSpace(line) == strings.TrimSpace(a) },
			func(line string) bool { return strings.Contains(line, strings.TrimSpace(a)) },
		} {
			if n = behind(text[at:], same); n >= 0 {
				break
			}
		}
		if n < 0 {
			return 0, fmt.Errorf("the line after @@ was not found: %q", a)
		}
		at += n
	}
	return at, nil
}

// behind returns the offset after the first line that satisfies same, or -1.
func behind(text string, same func(string) bool) int {
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if same(strings.TrimRight(line, "\r\n")) {
			return at
		}
	}
	return -1
}

// place applies one hunk to text. next is the offset in done from which later hunks look; how is empty for an exact match.
func place(text string, h Hunk, anchored bool) (done string, next int, how string, err error) {
	old, lines := h.Old(), h.New()
	if len(old) == 0 {
		done, next, err = insert(text, lines, h, anchored)
		return done, next, "", err
	}
	if start, end, ok := find(text, old, h.EOF, len(h.Anchors) > 0); ok {
		with := join(lines)
		return text[:start] + with + text[end:], start + len(with), "", nil
	}
	out, err := fuzzy.Replace(text, join(old), join(lines), false)
	if err != nil {
		return "", 0, "", err
	}
	s := out.Spans[0]
	if s.Start > 0 && text[s.Start-1] != '\n' {
		return "", 0, "", errors.New("its lines are only found inside a longer line: quote whole lines")
	}
	return out.Text, s.Start + len(s.Text), out.Strategy, nil
}

// find looks for whole lines. Several places are ambiguous unless an anchor or the end of the file chooses one.
func find(text string, old []string, atEOF, anchored bool) (start, end int, ok bool) {
	want := join(old)
	n := 0
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], want) {
			if n++; n == 1 || atEOF {
				start, end = at, at+len(want)
			}
			if anchored && !atEOF {
				return start, end, true
			}
		}
		nl := strings.IndexByte(text[at:], '\n')
		if nl < 0 {
			break
		}
		at += nl + 1
	}
	if atEOF {
		return start, end, n > 0 && end == len(text)
	}
	return start, end, n == 1
}

// insert places lines that have no context: behind the anchor, at the end of the file, or into an empty file.
func insert(text string, lines []string, h Hunk, anchored bool) (done string, next int, err error) {
	with := join(lines)
	switch {
	case h.EOF || text == "" && !anchored:
		return text + with, len(text) + len(with), nil
	case len(h.Anchors) > 0:
		return with + text, len(with), nil
	}
	return "", 0, fmt.Errorf("only + lines and no place for them: add context lines, an @@ line, or %s", eof)
}

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
