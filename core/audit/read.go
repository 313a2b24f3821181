package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Filter chooses entries. Zero values choose all.
type Filter struct {
	Session string // prefix of its uid
	What    string
	Backend string
	Since   time.Time
	Until   time.Time
	Text    string // in the gist, the reason or the effects; case does not matter
}

func (f Filter) matches(e Entry) bool {
	switch {
	case !strings.HasPrefix(e.Session, f.Session),
		f.What != "" && e.What != f.What,
		f.Backend != "" && e.Backend != f.Backend,
		!f.Since.IsZero() && e.At.Before(f.Since),
		!f.Until.IsZero() && e.At.After(f.Until):
		return false
	}
	all := strings.ToLower(e.Gist + "\n" + e.Reason + "\n" + strings.Join(e.Effects, "\n"))
	return strings.Contains(all, strings.ToLower(f.Text))
}

// Files lists the record's files, the oldest first.
func Files(dir string) ([]string, error) {
	list, err := filepath.Glob(filepath.Join(dir, "[0-9][0-9][0-9][0-9]-[0-9][0-9].jsonl"))
	slices.Sort(list)
	return list, err
}

// Read calls each with every entry that f chooses, in the order of the record. Lines that are not
// entries are left out: Verify names them.
func Read(dir string, f Filter, each func(Entry) error) error {
	return eachLine(dir, func(_ string, _ int, line []byte) error {
		var e Entry
		if json.Unmarshal(line, &e) != nil || !f.matches(e) {
			return nil
		}
		return each(e)
	})
}

// Break is a place where the chain does not hold.
type Break struct {
	File   string
	Line   int
	Reason string
}

func (b Break) String() string { return fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.Reason) }

// Verify checks every line of the record, and counts them.
func Verify(dir string) (count int, breaks []Break, err error) {
	prev, file := "", ""
	err = eachLine(dir, func(path string, n int, line []byte) error {
		if path != file {
			prev, file = "", path
		}
		var e Entry
		switch {
		case json.Unmarshal(line, &e) != nil:
			breaks = append(breaks, Break{path, n, "not an entry: the program was killed while it wrote, or somebody changed the line"})
		case e.Prev != prev:
			breaks = append(breaks, Break{path, n, "does not follow the line before it: a line was changed, removed or put in"})
		}
		count++
		prev = hashLine(line)
		return nil
	})
	return count, breaks, err
}

func eachLine(dir string, each func(path string, n int, line []byte) error) error {
	files, err := Files(dir)
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := linesOf(path, each); err != nil {
			return err
		}
	}
	return nil
}

func linesOf(path string, each func(path string, n int, line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if bad := each(path, n, line); bad != nil {
				return bad
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}
