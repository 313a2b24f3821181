package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"hermes/core/realpath"
)

// Far is the files of another machine. Ask sends a request there and returns the reply; name is
// what is done, for people and for what a host allows: read_file, write_file, search_files.
type Far struct {
	Ask func(ctx context.Context, name, path string, request []byte) ([]byte, error)
}

// names are what the operations are called where somebody judges them.
var names = map[string]string{
	opResolve: "read_file", opStat: "read_file", opRead: "read_file", opList: "read_file", opSearch: "search_files",
	opWrite: "write_file", opRemove: "write_file",
}

func (f *Far) sendRequest(ctx context.Context, r request) (reply, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return reply{}, err
	}
	answer, err := f.Ask(ctx, names[r.Op], r.Path, data)
	if err != nil {
		return reply{}, err
	}
	var out reply
	if err := json.Unmarshal(answer, &out); err != nil {
		return reply{}, fmt.Errorf("the runner on the other side answered with nonsense: %w", err)
	}
	if out.Failure != nil {
		return reply{}, out.Failure.asError()
	}
	return out, nil
}

var errEmpty = errors.New("the runner on the other side left out what was asked")

// Resolve implements System.
func (f *Far) Resolve(ctx context.Context, dir, path string) (Place, error) {
	out, err := f.sendRequest(ctx, request{Op: opResolve, Dir: dir, Path: path})
	if err == nil && out.Place == nil {
		err = errEmpty
	}
	if err != nil {
		return Place{}, err
	}
	return *out.Place, nil
}

// Stat implements System.
func (f *Far) Stat(ctx context.Context, real string) (realpath.Stat, error) {
	return f.statOf(f.sendRequest(ctx, request{Op: opStat, Path: real}))
}

func (*Far) statOf(out reply, err error) (realpath.Stat, error) {
	if err == nil && out.Stat == nil {
		err = errEmpty
	}
	if err != nil {
		return realpath.Stat{}, err
	}
	return *out.Stat, nil
}

// Open implements System. The file is fetched piece by piece as it is read.
func (f *Far) Open(ctx context.Context, real string) (io.ReadCloser, realpath.Stat, error) {
	out, err := f.sendRequest(ctx, request{Op: opRead, Path: real})
	st, err := f.statOf(out, err)
	if err != nil {
		return nil, st, err
	}
	return &farFile{ctx: ctx, far: f, path: real, stat: st, left: out.Data, next: int64(len(out.Data))}, st, nil
}

// farFile reads a file of the other side.
type farFile struct {
	ctx  context.Context
	far  *Far
	path string
	stat realpath.Stat
	mu   sync.Mutex
	left []byte
	next int64 // offset of what was not fetched yet
}

// Read implements io.Reader. A file that changes on the way is an error.
func (r *farFile) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 {
		if r.next >= r.stat.Size {
			return 0, io.EOF
		}
		out, err := r.far.sendRequest(r.ctx, request{Op: opRead, Path: r.path, Offset: r.next})
		st, err := r.far.statOf(out, err)
		if err != nil {
			return 0, err
		}
		if !Same(st, r.stat) || len(out.Data) == 0 {
			return 0, errors.New("it changed while it was read; read it again")
		}
		r.left, r.next = out.Data, r.next+int64(len(out.Data))
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Close implements io.Closer: nothing is held open there.
func (*farFile) Close() error { return nil }

// List implements System.
func (f *Far) List(ctx context.Context, real string) ([]Entry, error) {
	out, err := f.sendRequest(ctx, request{Op: opList, Path: real})
	return out.Entries, err
}

// Write implements System.
func (f *Far) Write(ctx context.Context, real string, data []byte, old *realpath.Stat) (realpath.Stat, error) {
	if len(data) > MaxWrite {
		return realpath.Stat{}, fmt.Errorf("it has %d bytes; at most %d MB are written at once", len(data), MaxWrite>>20)
	}
	return f.statOf(f.sendRequest(ctx, request{Op: opWrite, Path: real, Data: data, Old: old}))
}

// Remove implements System.
func (f *Far) Remove(ctx context.Context, real string) error {
	_, err := f.sendRequest(ctx, request{Op: opRemove, Path: real})
	return err
}

// Search searches below a resolved path, on the other side.
func (f *Far) Search(ctx context.Context, root string, q Query) (Answer, error) {
	out, err := f.sendRequest(ctx, request{Op: opSearch, Path: root, Query: &q})
	if err == nil && out.Answer == nil {
		err = errEmpty
	}
	if err != nil {
		return Answer{}, err
	}
	return *out.Answer, nil
}
