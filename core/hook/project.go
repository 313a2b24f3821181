package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"

	"hermes/core/atomicfile"
	"hermes/core/config"
	"hermes/core/shelltext"
	"hermes/core/trust"
)

// ProjectFile is where projects name hooks, below their folder.
const ProjectFile = ".hermes/hooks.yaml"

// Brought is the hooks that a project names. None is run before the person trusted exactly this
// content, with the files of the project that the commands name.
type Brought struct {
	Folder   string      `json:"folder"`
	Hash     string      `json:"hash"`
	State    trust.State `json:"state"`
	Hooks    []Hook      `json:"hooks"`
	Problems []string    `json:"problems,omitempty"`
}

// Projects remembers which projects may bring hooks.
type Projects struct {
	book *trust.Book
	home string
	run  Commands
}

// NewProjects returns what is kept in a data folder.
func NewProjects(home string, run Commands) *Projects {
	return &Projects{trust.New(filepath.Join(home, "hook_trust.json")), home, run}
}

// Look reads what a project brings; nil when it brings nothing.
func (p *Projects) Look(folder string, c *config.Config) (*Brought, error) {
	folder = filepath.Clean(folder)
	name := filepath.Join(folder, ProjectFile)
	if folder == "." || filepath.Dir(name) == filepath.Clean(p.home) {
		return nil, nil
	}
	data, err := atomicfile.ReadPlain(name, maxProjectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	set, problems := c.ProjectHooks(ProjectFile, data)
	b := &Brought{Folder: folder, Hooks: []Hook{}}
	for _, one := range problems {
		b.Problems = append(b.Problems, one.String())
	}
	for _, h := range p.run.Of(set) {
		h.Owner = OwnerProject
		if h, err = h.withDefaults(); err != nil {
			b.Problems = append(b.Problems, err.Error())
		}
		b.Hooks = append(b.Hooks, h)
	}
	if len(b.Hooks) == 0 && len(b.Problems) == 0 {
		return nil, nil
	}
	files, err := filesOf(folder, b.Hooks)
	if err != nil {
		return nil, err
	}
	b.Hash = hashOf(data, files)
	for i, h := range b.Hooks {
		b.Hooks[i].Run = b.runUnchanged(files, h.Run)
	}
	b.State, err = p.book.State(folder, b.Hash)
	return b, err
}

// Answer remembers what the person said about what they were shown.
func (p *Projects) Answer(shown *Brought, yes bool) error {
	return p.book.Answer(shown.Folder, shown.Hash, yes)
}

// Limits of what is hashed, in bytes.
const (
	maxProjectFile = 1 << 20
	maxProgram     = 64 << 20 // of a file of the project that a command names
)

// runUnchanged runs a hook of a project in the project's folder, whose files are the ones that were
// trusted. They are looked at before each run: the agent, or a pull, may have changed them since.
func (b *Brought) runUnchanged(trusted []named, run Runner) Runner {
	return func(ctx context.Context, h Hook, in Input, payload []byte) (Reply, error) {
		now, err := filesOf(b.Folder, b.Hooks)
		if err != nil {
			return Reply{}, err
		}
		if file := changed(trusted, now); file != "" {
			return Reply{}, fmt.Errorf("%s, which the project's hooks name, has changed since they were trusted: "+
				"/hooks trust or `hermes hooks trust` shows them and asks", file)
		}
		in.Cwd = b.Folder // where relative names were looked up
		return run(ctx, h, in, payload)
	}
}

// named is a file that a hook's command names, as the command names it, with the hash of what is
// there.
type named struct{ word, hash string }

// hashOf is the hash of the file of the hooks and of every file that a command names.
func hashOf(data []byte, files []named) string {
	sum := sha256.New()
	_, _ = sum.Write(data) // it never fails
	for _, f := range files {
		_, _ = fmt.Fprintf(sum, "\x00%s\x00%s", f.word, f.hash)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// filesOf are the files that the commands name and do not write by `>`, with the hash of each: of
// the project whole, of the machine (a shell, a python) only when it is small.
func filesOf(folder string, list []Hook) (files []named, err error) {
	for _, h := range list {
		for _, word := range readWords(h.Command, maxTexts) {
			word = strings.TrimPrefix(word, string(shelltext.Unknown)+"/") // $HERMES_PROJECT_DIR, or what may be it
			if !filepath.IsAbs(word) {
				word = filepath.Join(folder, word)
			}
			target, err := filepath.EvalSymlinks(word) // what a link leads to is what runs
			if err != nil {
				continue
			}
			sum := sha256.New()
			_, _ = sum.Write([]byte(target))
			if err := hashFile(sum, target, strings.HasPrefix(word, folder+string(filepath.Separator))); err != nil {
				return nil, err
			}
			files = append(files, named{word, hex.EncodeToString(sum.Sum(nil))})
		}
	}
	return files, nil
}

// maxTexts is how many shells inside of each other are looked into, as in sh -c "sh -c x".
const maxTexts = 3

// readWords are the words of a command that may name a file, without those that its output goes to:
// `echo x >> log` writes log, and must not be stopped by what it wrote.
func readWords(command string, deep int) (words []string) {
	file, err := shelltext.Parse(command)
	if err != nil { // another shell may run it
		return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|()<>=", r) })
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			return !isOutput(n)
		case *syntax.Word:
			for _, w := range shelltext.Read(n) {
				words = append(words, w.Text)
				if _, value, ok := strings.Cut(w.Text, "="); ok { // --config=file
					words = append(words, value)
				}
				if deep > 0 && strings.ContainsAny(w.Text, " \t\n;&|()<>") {
					words = append(words, readWords(w.Text, deep-1)...)
				}
			}
		}
		return true
	})
	return words
}

// isOutput reports whether a redirection writes a file; >(program) runs one.
func isOutput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		_, runs := r.Word.Parts[0].(*syntax.ProcSubst)
		return !runs
	default:
		return false
	}
}

// changed names the first file of now that was not so before, "" when there is none.
func changed(before, now []named) string {
	for i, f := range now {
		if i >= len(before) || before[i] != f {
			return f.word
		}
	}
	if len(now) < len(before) {
		return before[len(now)].word
	}
	return ""
}

// hashFile adds a file to a hash: its size, and its content. A file of the machine that is no small
// plain one counts by its size.
func hashFile(sum io.Writer, name string, ofProject bool) error {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("the file %s of a hook cannot be read: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	plain, size := info.Mode().IsRegular(), info.Size()
	switch {
	case info.IsDir():
		return nil // a folder is not run
	case ofProject && (!plain || size > maxProgram):
		return fmt.Errorf("%s, which a hook names, is no plain file of at most %d MiB: the project's hooks are not run", name, maxProgram>>20)
	}
	_, _ = fmt.Fprintf(sum, "\x00%d\x00", size)
	if !plain || !ofProject && size > maxProjectFile {
		return nil
	}
	_, err = io.Copy(sum, io.LimitReader(f, size))
	return err
}
