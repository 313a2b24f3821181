package hub

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hermes/skills"
)

// unpack copies the regular files of an archive.
func (f *Fetched) unpack(ctx context.Context, file string) error {
	name := strings.ToLower(file)
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
		return f.untar(ctx, tar.NewReader(io.LimitReader(r, 2*maxBytes)))
	}
	return errors.New("its name ends in none of .zip, .skill, .tar, .tar.gz, .tgz")
}

func (f *Fetched) unzip(ctx context.Context, file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fmt.Errorf("it is no zip archive: %w", err)
	}
	defer func() { _ = z.Close() }()
	var have room
	for _, entry := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if entry.FileInfo().IsDir() {
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
		err = f.writeEntry(&have, entry.Name, r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fetched) untar(ctx context.Context, t *tar.Reader) error {
	var have room
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
		case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg:
			f.note("%s: no regular file, left out", h.Name)
			continue
		}
		if err := f.writeEntry(&have, h.Name, t); err != nil {
			return err
		}
	}
}

// writeEntry writes one file of an archive; what it says of its size counts for nothing.
func (f *Fetched) writeEntry(have *room, name string, r io.Reader) error {
	rel := filepath.FromSlash(strings.ReplaceAll(name, `\`, "/"))
	if !filepath.IsLocal(rel) || strings.ContainsRune(name, 0) {
		return fmt.Errorf("it holds a file that leads out of it: %q; nothing was taken", name)
	}
	if strings.Count(filepath.ToSlash(rel), "/") > maxDepth+1 {
		f.note("%s: too deep, left out", name)
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes-have.bytes+1))
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
	return os.WriteFile(at, data, 0o600)
}

// Pack writes a skill as a zip archive: its folder, with SKILL.md first. Files that are no text are
// left out and named.
func Pack(w io.Writer, s *skills.Skill) (left []string, err error) {
	z := zip.NewWriter(w)
	head, err := s.Raw()
	if err != nil {
		return nil, err
	}
	if err := addEntry(z, s.Name+"/"+skills.File, head); err != nil {
		return nil, err
	}
	for _, rel := range s.Files() {
		text, err := s.Read(rel)
		if err != nil {
			left = append(left, rel)
			continue
		}
		if err := addEntry(z, s.Name+"/"+rel, []byte(text)); err != nil {
			return left, err
		}
	}
	return left, z.Close()
}

// addEntry writes one file: without a time, so that the same skill is the same archive.
func addEntry(z *zip.Writer, name string, data []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
