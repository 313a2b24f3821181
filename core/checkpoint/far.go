package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"hermes/core/files"
	"hermes/core/realpath"
)

// farTime bounds what asks a back end about one file.
const farTime = 30 * time.Second

// FarPath is the path of a file in a back end, as records name it: a path of this machine begins
// with a slash.
func FarPath(backend, real string) string { return backend + ":" + real }

// SplitFar takes such a path apart. It reports false for a path of this machine.
func SplitFar(path string) (backend, real string, far bool) {
	backend, real, far = strings.Cut(path, ":")
	if !far || backend == "" || strings.Contains(backend, "/") || !strings.HasPrefix(real, "/") {
		return "", path, false
	}
	return backend, real, true
}

// AnyFar reports whether a record has files of back ends, which Plan and Undo ask.
func (r *Record) AnyFar() bool {
	for _, f := range r.Files {
		if _, _, far := SplitFar(string(f.Path)); far {
			return true
		}
	}
	return false
}

// farFiles finds the files of a back end.
func (s *Store) farFiles(session, backend string) (files.System, error) {
	if s.o.Far == nil {
		return nil, fmt.Errorf("the back end %q cannot be asked from here", backend)
	}
	return s.o.Far(session, backend)
}

// stateOf describes what stands at the path of a record, on this machine or in a back end.
func (s *Store) stateOf(ctx context.Context, session, path string, b *batch, keep bool) (State, error) {
	backend, real, far := SplitFar(path)
	if !far {
		return s.captureState(path, b, keep)
	}
	ctx, cancel := context.WithTimeout(ctx, farTime)
	defer cancel()
	sys, err := s.farFiles(session, backend)
	if err != nil {
		return State{}, err
	}
	st, err := sys.Stat(ctx, real)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Kind: None}, nil
	}
	if err != nil {
		return State{}, err
	}
	if out := (State{Kind: kindOf(st.Kind), Mode: st.Mode, UID: st.UID, GID: st.GID}); out.Kind != Regular {
		if out.Kind == Link { // its path was resolved: it was none
			out = State{Kind: Other}
		}
		return out, nil
	}
	f, st, err := sys.Open(ctx, real)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	return s.captureContent(f, st, State{Kind: Regular, UID: st.UID, GID: st.GID}, b, keep)
}

// captureContent describes an open file, whose content it keeps with a batch.
func (s *Store) captureContent(f io.Reader, st realpath.Stat, out State, b *batch, keep bool) (State, error) {
	out.Size, out.Mode = st.Size, st.Mode
	if st.Size > s.o.FileSize {
		out.Lost, out.Mtime = tooLarge(st.Size, s.o.FileSize), st.Mtime
		return out, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, s.o.FileSize+1))
	if err != nil {
		return out, err
	}
	if int64(len(data)) > s.o.FileSize {
		out.Lost, out.Mtime = tooLarge(int64(len(data)), s.o.FileSize), st.Mtime
		return out, nil
	}
	out.Size = int64(len(data))
	if !keep || b == nil {
		out.Hash = hashOf(data)
		return out, nil
	}
	out.Hash, err = b.addBlob(data)
	return out, err
}

// putFar makes a path of a back end what it was: a file with its content and mode, or nothing.
func (s *Store) putFar(ctx context.Context, session string, st Step) error {
	ctx, cancel := context.WithTimeout(ctx, farTime)
	defer cancel()
	backend, real, _ := SplitFar(string(st.Path))
	sys, err := s.farFiles(session, backend)
	if err != nil {
		return err
	}
	if st.To.Kind == None {
		if err = sys.Remove(ctx, real); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := s.blobs.readBlob(st.To.Hash)
	if err != nil {
		return err
	}
	old, err := sys.Stat(ctx, real) // what cannot be replaced is written where it is, if it is still this
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old.Kind, old.Mode, old.UID, old.GID = realpath.Regular, st.To.Mode, st.To.UID, st.To.GID
	_, err = sys.Write(ctx, real, data, &old)
	return err
}
