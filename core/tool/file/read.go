package file

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed" // descriptions
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hermes/core/chat"
	"hermes/core/clip"
	"hermes/core/content"
	"hermes/core/files"
	"hermes/core/intent"
	"hermes/core/nearest"
	"hermes/core/realpath"
	"hermes/core/tool"
)

//go:embed read_file.md
var readDoc string

const (
	usualLines = 500 // lines of a read that names no limit
	maxLines   = 2000
	lineRunes  = 2000
	readRunes  = 100_000

	bigFile = 512 << 10
	countTo = 64 << 20 // files up to this size are read to the end to count their lines
)

func (l Limits) orDefaults() Limits {
	return Limits{
		Lines: cmp.Or(l.Lines, maxLines), LineLength: cmp.Or(l.LineLength, lineRunes), Chars: cmp.Or(l.Chars, readRunes),
	}
}

// forPrograms are the limits of a read by a program, which has no context to fill and to which a
// cut line is a wrong line.
var forPrograms = Limits{Lines: math.MaxInt32, LineLength: 5_000_000, Chars: 5_000_000}

// defaultLines is how many lines a read gets that names no limit.
func (l Limits) defaultLines() int {
	if l == forPrograms {
		return l.Lines
	}
	return min(usualLines, l.Lines)
}

type readArgs struct {
	Path    string `json:"path"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
	Backend string `json:"backend"`
}

// Read returns the read_file tool.
func Read(w *Workspace) tool.Tool {
	l := w.limit
	return tool.Typed(tool.Spec{
		Name: "read_file", Toolset: "file", MaxResult: l.Chars + 1000,
		Description: fmt.Sprintf(readDoc, l.defaultLines(), l.Lines, l.LineLength, l.Chars),
		Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{
			"path":{"type":"string","minLength":1,"description":"File to read; relative paths start in the session's directory"},
			"offset":{"type":"integer","minimum":1,"default":1,"description":"First line, counted from 1"},
			"limit":{"type":"integer","minimum":1,"maximum":%d,"default":%d,"description":"How many lines"}%s}}`, l.Lines, l.defaultLines(), w.backendArg())),
		Intent: tool.Arg(func(a readArgs) intent.Intent {
			return intent.Intent{Reads: true, Gist: a.Path + l.lineRange(a), Paths: []string{a.Path}, OnlyPaths: true, InBackend: true, Backend: a.Backend}
		}),
	}, w.readFile)
}

func (l Limits) lineRange(a readArgs) string {
	if a.Offset == 0 && a.Limit == 0 {
		return ""
	}
	from := max(1, a.Offset)
	return fmt.Sprintf(":%d-%d", from, from+cmp.Or(a.Limit, l.defaultLines())-1)
}

func (w *Workspace) readFile(ctx context.Context, c tool.Call, a readArgs) (tool.Result, error) {
	if strings.HasPrefix(a.Path, chat.HandlePrefix) && w.kept != nil && c.Data == nil {
		return w.readKept(ctx, c, a), nil
	}
	limit := w.limit
	if c.Data != nil {
		limit = forPrograms
	}
	a.Offset, a.Limit = cmp.Or(a.Offset, 1), cmp.Or(a.Limit, limit.defaultLines())
	at, err := w.findPlace(ctx, c, a.Backend, a.Path)
	if err != nil {
		return tool.Fail("Cannot read %v.", err), nil
	}
	if err := w.mayRead(at); err != nil {
		return tool.Fail("%v.", err), nil
	}
	if st, err := at.room.Files.Stat(ctx, at.real); err == nil && st.Kind == realpath.Folder {
		return listDir(ctx, c, at)
	}
	f, st, err := at.room.Files.Open(ctx, at.real)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Fail("%s does not exist.%s", at.shown, similarFiles(ctx, at)), nil
	}
	if err != nil {
		return tool.Fail("Cannot read %s: %v.", at.shown, files.Reason(err)), nil
	}
	defer f.Close()
	asked := fmt.Sprintf("%d+%d", a.Offset, a.Limit)
	if c.Data != nil {
		asked = "" // the model has not seen it
	} else if w.marks.askedBefore(c.Session, at.fileKey(), st, asked) {
		return tool.Result{Text: fmt.Sprintf("%s is unchanged since you read these lines: see that result. Ask once more if you no longer have it.", at.shown)}, nil
	}
	res := limit.showLines(f, st.Size, at, a, c)
	if !res.IsError {
		w.marks.recordSeen(c.Session, at.fileKey(), st, asked)
	}
	return res, nil
}

// showLines reads the asked lines.
func (l Limits) showLines(f io.Reader, size int64, at place, a readArgs, c tool.Call) tool.Result {
	data := c.Data
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(8192)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return tool.Fail("Cannot read %s: %v.", at.shown, files.Reason(err))
	}
	if isBinary(head) {
		if strings.HasPrefix(http.DetectContentType(head), "image/") && data == nil {
			return showImage(r, at, size)
		}
		return tool.Fail("%s is a binary file (%d bytes%s).%s", at.shown, size, kindOf(head), c.Advise(" Use `terminal` to look into it."))
	}
	if bytes.HasPrefix(head, []byte(bom)) {
		_, _ = r.Discard(len(bom))
	}
	p := page{limit: l, from: a.Offset, to: a.Offset + a.Limit - 1, whole: size <= countTo, bare: data != nil}
	if err := p.fillPage(r); err != nil {
		return tool.Fail("Cannot read %s: %v.", at.shown, files.Reason(err))
	}
	switch {
	case p.runes > l.Chars:
		return tool.Fail("Lines %d-%d of %s have %d characters, more than the %d of one read. Ask for fewer lines with limit%s.",
			p.from, p.to, at.shown, p.runes, l.Chars, c.Advise(", or use `search_files` to find the place"))
	case p.lines == 0 && data == nil:
		return tool.Result{Text: fmt.Sprintf("[%s is empty]", at.shown)}
	case p.lines < p.from && p.lines > 0:
		return tool.Fail("%s has only %d lines: offset %d is behind its end.", at.shown, p.lines, p.from)
	}
	if data != nil {
		data(p.pageData(at))
	}
	return tool.Result{Text: p.text.String() + p.footerText(size, c)}
}

// showImage gives an image as the model sees it. The registry makes it fit.
func showImage(r io.Reader, at place, size int64) tool.Result {
	data, err := io.ReadAll(io.LimitReader(r, content.MaxInput+1))
	if err != nil {
		return tool.Fail("Cannot read %s: %v.", at.shown, files.Reason(err))
	}
	p := chat.Part{Kind: chat.PartImage, Name: filepath.Base(at.real), Path: at.fileKey(), Data: data}
	return tool.Result{Text: fmt.Sprintf("%s is an image (%d bytes).", at.shown, size), Parts: []chat.Part{p}}
}

// readKept gives an image of this conversation once more, or the text of a document.
func (w *Workspace) readKept(ctx context.Context, c tool.Call, a readArgs) tool.Result {
	p, err := w.kept(ctx, c.Session, a.Path)
	switch {
	case err != nil:
		return tool.Fail("Cannot show %s: %v.", a.Path, err)
	case p.IsDocument():
		a.Offset, a.Limit = cmp.Or(a.Offset, 1), cmp.Or(a.Limit, w.limit.defaultLines())
		return w.limit.showLines(strings.NewReader(p.Text), int64(len(p.Text)), place{shown: "the text of " + a.Path}, a, tool.Call{Has: c.Has})
	}
	return tool.Result{Text: a.Path + " is this image.", Parts: []chat.Part{p}}
}

// pageData is the page for a program. Its text is that of the file, with \n at every line's end.
func (p *page) pageData(at place) map[string]any {
	d := map[string]any{
		"path": at.shown, "content": p.text.String(), "offset": p.from, "lines": max(0, min(p.to, p.lines)-p.from+1), "truncated": p.more || p.lines > p.to,
	}
	if !p.more {
		d["total_lines"] = p.lines
	}
	return d
}

// kindOf names a few kinds of binary file by their first bytes.
func kindOf(head []byte) string {
	for magic, name := range map[string]string{
		"\x89PNG": "PNG image", "\xff\xd8\xff": "JPEG image", "GIF8": "GIF image", "%PDF": "PDF", "PK\x03\x04": "ZIP archive or Office file",
		"\x7fELF": "ELF program", "\x1f\x8b": "gzip", "SQLite format 3": "SQLite database", "\xff\xfe": "UTF-16 text", "\xfe\xff": "UTF-16 text",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return ", " + name
		}
	}
	return ""
}

// page collects lines from to to, both included, as "LINE|content".
type page struct {
	limit    Limits
	from, to int
	whole    bool // count to the end of the file
	bare     bool // without line numbers, and with no line end that the file has not
	text     strings.Builder
	runes    int
	lines    int  // lines seen
	more     bool // stopped before the end
}

func (p *page) fillPage(r *bufio.Reader) error {
	for {
		if p.lines >= p.to && !p.whole {
			_, err := r.Peek(1)
			p.more = err == nil
			return nil
		}
		line, n, err := readLine(r, p.bytesLeft())
		if n > 0 {
			p.lines++
			p.addLine(line, err == nil)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// bytesLeft is how many bytes of the next line can be shown at most.
func (p *page) bytesLeft() int {
	if p.lines+1 < p.from || p.lines >= p.to {
		return 0
	}
	return 4 * p.limit.LineLength
}

func (p *page) addLine(line []byte, ended bool) {
	if p.lines < p.from || p.lines > p.to {
		return
	}
	s := p.limit.clipLine(strings.ToValidUTF8(string(line), "\uFFFD"))
	p.runes += utf8.RuneCountInString(s) + 8
	switch {
	case p.runes > p.limit.Chars:
	case !p.bare:
		fmt.Fprintf(&p.text, "%d|%s\n", p.lines, s)
	case ended:
		p.text.WriteString(s + "\n")
	default:
		p.text.WriteString(s)
	}
}

func (l Limits) clipLine(s string) string {
	return clip.Runes(s, l.LineLength, "... [line cut]")
}

// readLine reads one line without its end; of a long one only a little more than most bytes, and
// nothing when most is 0. n counts all its bytes.
func readLine(r *bufio.Reader, most int) (line []byte, n int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		n += len(part)
		if most > 0 && len(line) <= most {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), n, err
		}
	}
}

func (p *page) footerText(size int64, c tool.Call) string {
	last := min(p.to, p.lines)
	switch {
	case p.more:
		return fmt.Sprintf("[lines %d-%d; the file has %d bytes: continue with offset=%d%s]", p.from, last, size, last+1, c.Advise(", or use `search_files`"))
	case p.lines > p.to:
		hint := ""
		if size > bigFile {
			hint = fmt.Sprintf("; %d KB%s", size>>10, c.Advise(", `search_files` finds places faster"))
		}
		return fmt.Sprintf("[lines %d-%d of %d; continue with offset=%d%s]", p.from, last, p.lines, last+1, hint)
	case p.from > 1:
		return fmt.Sprintf("[lines %d-%d of %d; end of file]", p.from, last, p.lines)
	}
	return ""
}

// listDir answers a read of a directory with its entries: it is what the model wanted to know next.
func listDir(ctx context.Context, c tool.Call, at place) (tool.Result, error) {
	entries, err := at.room.Files.List(ctx, at.real)
	if err != nil {
		return tool.Fail("Cannot list %s: %v.", at.shown, files.Reason(err)), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a directory with %d entries:\n", at.shown, len(entries))
	for i, e := range entries {
		if i == 200 {
			fmt.Fprintf(&b, "[%d more%s]\n", len(entries)-i, c.Advise(": use `search_files` with target=files"))
			break
		}
		name := e.Name
		if e.Dir {
			name += "/"
		}
		b.WriteString(name + "\n")
	}
	return tool.Result{Text: b.String()}, nil
}

// similarFiles proposes files for a path that does not exist.
func similarFiles(ctx context.Context, at place) string {
	dir := filepath.Dir(at.real)
	entries, err := at.room.Files.List(ctx, dir)
	if err != nil {
		for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			entries, err = at.room.Files.List(ctx, dir)
		}
		if err != nil {
			return ""
		}
		return fmt.Sprintf(" Its folder does not exist either; the nearest that does is %s (%d entries).", dir, len(entries))
	}
	var names []string
	for _, e := range entries[:min(len(entries), 5000)] {
		names = append(names, e.Name)
	}
	near := nearest.Names(filepath.Base(at.real), names, 5)
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = filepath.Join(filepath.Dir(at.shown), n)
	}
	return " Similar: " + strings.Join(near, ", ") + "."
}
