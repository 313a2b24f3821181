package quarantine

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unpack copies the regular files of an archive.
func (f *Fetched) unpack(ctx context.Context, file string) error {
	name := strings.ToLower(file)
	if info, err := os.Stat(file); err == nil && info.Size() > 2*f.limits.Bytes { // the list of its files is read whole
		return fmt.Errorf("it is larger than %d MB: name the folder of the %s", 2*f.limits.Bytes>>20, f.limits.What)
	}
	switch {
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".skill"):
		return f.unzip(ctx, file)
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar"):
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		var r io.Reader = in
		if !strings.HasSuffix(name, ".tar") {
			z, err := gzip.NewReader(in)
			if err != nil {
				return fmt.Errorf("it is no gzip archive: %w", err)
			}
			r = z
		}
		return f.untar(ctx, tar.NewReader(io.LimitReader(r, 2*f.limits.Bytes)))
	}
	return errors.New("its name ends in none of .zip, .skill, .tar, .tar.gz, .tgz")
}

func (f *Fetched) unzip(ctx context.Context, file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("it is no zip archive: %w", err)
	}
	defer func() { _ = z.Close() }()
	have := room{most: f.limits}
	for _, entry := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if entry.FileInfo().IsDir() {
			if err := f.makeFolder(&have, entry.Name); err != nil {
				return err
			}
			continue
		}
		if !entry.Mode().IsRegular() {
			f.note("%s: no regular file, left out", entry.Name)
			continue
		}
		r, err := entry.Open()
		if err != nil {
			return err
		}
		err = f.writeEntry(&have, entry.Name, entry.Mode(), r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fetched) untar(ctx context.Context, t *tar.Reader) error {
	have := room{most: f.limits}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("it is no tar archive: %w", err)
		case h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag == tar.TypeDir:
			if err := f.makeFolder(&have, h.Name); err != nil {
				return err
			}
			continue
		case h.Typeflag != tar.TypeReg:
			f.note("%s: no regular file, left out", h.Name)
			continue
		}
		if err := f.writeEntry(&have, h.Name, h.FileInfo().Mode(), t); err != nil {
			return err
		}
	}
}

// entryPath is where an entry of an archive belongs; empty when it lies too deep, which is noted.
func (f *Fetched) entryPath(name string) (string, error) {
	rel := filepath.Clean(filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
	if !filepath.IsLocal(rel) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("it holds a file that leads out of it: %q; nothing was taken", name)
	}
	if strings.Count(filepath.ToSlash(rel), "/") > f.limits.Depth+1 {
		f.note("%s: too deep, left out", name)
		return "", nil
	}
	return rel, nil
}

// makeFolder makes a folder that an archive names, and counts it.
func (f *Fetched) makeFolder(have *room, name string) error {
	rel, err := f.entryPath(name)
	if err != nil || rel == "" {
		return err
	}
	if err := have.countFolders(rel); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(f.Dir, rel), 0o700)
}

// writeEntry writes one file of an archive; what it says of its size counts for nothing.
func (f *Fetched) writeEntry(have *room, name string, mode fs.FileMode, r io.Reader) error {
	rel, err := f.entryPath(name)
	if err != nil || rel == "" {
		return err
	}
	if err := have.countFolders(filepath.Dir(rel)); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(r, f.limits.Bytes-have.bytes+1))
	if err != nil {
		return err
	}
	if err := have.countFile(int64(len(data))); err != nil {
		return err
	}
	at := filepath.Join(f.Dir, rel)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return os.WriteFile(at, data, rights(mode))
}
