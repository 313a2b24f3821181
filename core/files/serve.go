package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Serve answers one request about the files of this machine.
func Serve(ctx context.Context, l Local, data []byte) []byte {
	var r request
	err := json.Unmarshal(data, &r)
	var out reply
	if err == nil {
		out, err = serveRequest(ctx, l, r)
	}
	if err != nil {
		out = reply{Failure: failureOf(err)}
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > MaxReply {
		text, _ = json.Marshal(reply{Failure: &failure{Text: "the answer is too large: ask for less"}}) // a string never fails
	}
	return text
}

func serveRequest(ctx context.Context, l Local, r request) (out reply, err error) {
	switch r.Op {
	case opResolve:
		var at Place
		at, err = l.Resolve(ctx, r.Dir, r.Path)
		out.Place = &at
	case opStat:
		st, serr := l.Stat(ctx, r.Path)
		out.Stat, err = &st, serr
	case opRead:
		return readChunk(r)
	case opList:
		out.Entries, err = l.List(ctx, r.Path)
	case opWrite:
		st, werr := l.Write(ctx, r.Path, r.Data, r.Old)
		out.Stat, err = &st, werr
	case opRemove:
		err = l.Remove(ctx, r.Path)
	case opSearch:
		if r.Query == nil {
			return out, errors.New("the search says not what to search for")
		}
		ctx, cancel := context.WithTimeout(ctx, searchTime)
		defer cancel()
		var a Answer
		a, err = r.Query.runQuery(ctx, r.Path)
		a.More = a.More || ctx.Err() != nil
		out.Answer = &a
	default:
		err = fmt.Errorf("the runner does not know how to %q a file", r.Op)
	}
	return out, err
}

func readChunk(r request) (out reply, err error) {
	f, st, err := OpenRegular(r.Path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	buf := make([]byte, chunk)
	n, err := f.ReadAt(buf, max(r.Offset, 0))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return reply{Stat: &st, Data: buf[:n]}, err
}

func (q *Query) runQuery(ctx context.Context, root string) (Answer, error) {
	if q.Names != nil {
		return q.byName(ctx, root)
	}
	re, err := regexp.Compile(q.Pattern)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	room, size := q.Most, 0
	add := func(f Found) bool {
		for i, h := range f.Hits {
			f.Hits[i].Text = h.Text[:min(len(h.Text), maxHit)]
			size += len(f.Hits[i].Text) + 40
			if !h.Context {
				room--
			}
		}
		a.Found = append(a.Found, f)
		a.More = room <= 0 || size > maxFound
		return !a.More
	}
	g := Grep{Pattern: q.Pattern, Regexp: re, Globs: q.Globs, Context: min(max(q.Context, 0), 20)}
	if q.Single {
		return a, g.File(root, "", add)
	}
	err = g.Walk(ctx, root, add)
	return a, err
}

// byName finds files, the newest first.
func (q *Query) byName(ctx context.Context, root string) (a Answer, err error) {
	const most = 200_000
	filter := NewPicker(q.Globs)
	err = WalkFiles(ctx, root, q.Names, func(rel string) bool {
		if filter.Wants(rel, "", false, nil) {
			if info, err := os.Lstat(filepath.Join(root, rel)); err == nil {
				a.Listed = append(a.Listed, Listed{rel, info.ModTime()})
			}
		}
		return len(a.Listed) < most
	})
	slices.SortFunc(a.Listed, func(x, y Listed) int { return cmp.Or(y.Mod.Compare(x.Mod), cmp.Compare(x.Path, y.Path)) })
	a.Total = len(a.Listed)
	if keep := max(q.Most, 1); a.Total > keep {
		a.Listed, a.More = a.Listed[:keep], true
	}
	return a, err
}
