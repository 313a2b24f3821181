package mcp

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/core/clip"
	"hermes/core/secret"
)

const (
	keptLines = 500
	maxLine   = 2000 // bytes of a line of a log

	maxLogFile = 2 << 20 // bytes; one old file is kept beside it
)

// serverLog is what a server said beside the protocol, and what became of it: the newest lines in
// memory and all of them in a file, without secrets.
type serverLog struct {
	mu    sync.Mutex
	path  string // "": it is not kept
	file  *os.File
	size  int64
	lines []string
	part  map[string][]byte
	long  map[string]bool // the rest of this line is left out
	said  string          // the last line that the server wrote
	now   func() time.Time
}

func newLog(path string) *serverLog {
	return &serverLog{path: path, part: map[string][]byte{}, long: map[string]bool{}, now: time.Now}
}

// writeOutput takes output in pieces of any size.
func (l *serverLog) writeOutput(from string, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := slices.Concat(l.part[from], data)
	for {
		line, more, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok && len(rest) <= maxLine {
			break
		}
		if !l.long[from] {
			l.addEntry(from, line)
		}
		l.long[from], rest = !ok, more
	}
	l.part[from] = bytes.Clone(rest)
}

func (l *serverLog) addLine(from string, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addEntry(from, line)
}

// addNote adds a line of ours.
func (l *serverLog) addNote(text string) { l.addLine("hermes", []byte(text)) }

func (l *serverLog) addEntry(from string, line []byte) {
	text := string(bytes.TrimSpace(line))
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + " […]"
	}
	text = secret.Clean(text)
	if from != "hermes" && text != "" {
		l.said = text
	}
	entry := l.now().Format("2006-01-02 15:04:05") + " " + from + ": " + text
	if l.lines = append(l.lines, entry); len(l.lines) > keptLines {
		l.lines = append([]string(nil), l.lines[len(l.lines)-keptLines:]...)
	}
	l.appendToFile(entry + "\n")
}

// appendToFile appends to the file; one that is full becomes the old one. A log that cannot be
// written stops nothing.
func (l *serverLog) appendToFile(entry string) {
	if l.path == "" {
		return
	}
	if l.size+int64(len(entry)) > maxLogFile {
		_ = l.file.Close()
		_ = os.Rename(l.path, l.path+".1")
		l.file, l.size = nil, 0
	}
	if l.file == nil {
		_ = os.MkdirAll(filepath.Dir(l.path), 0o700)
		file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		l.file = file
		if info, err := file.Stat(); err == nil {
			l.size = info.Size()
		}
	}
	n, _ := l.file.WriteString(entry)
	l.size += int64(n)
}

// lastLine is the last line that the server itself said, cut to what an error can hold.
func (l *serverLog) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for from, rest := range l.part {
		if len(bytes.TrimSpace(rest)) > 0 {
			l.addEntry(from, rest)
			delete(l.part, from)
		}
	}
	const most = 300
	return clip.Runes(l.said, most, "…")
}

func (l *serverLog) allLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

func (l *serverLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
