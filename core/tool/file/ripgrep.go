package file

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hermes/core/childenv"
	"hermes/core/files"
)

func findRipgrep(option string) string {
	switch option {
	case "off":
		return ""
	case "":
		option = "rg"
	}
	path, err := exec.LookPath(option)
	if err != nil {
		return ""
	}
	return path
}

// rgFlags make ripgrep do what our own walk does: no configuration file (it can name programs to
// run), no symlinks, hidden files but not .git, .gitignore files everywhere and nothing else to
// ignore.
func rgFlags(globs []string) []string {
	flags := []string{
		"--no-config", "--no-messages", "--hidden", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-exclude",
		"--no-require-git", "--max-filesize", strconv.Itoa(files.MaxSearched),
	}
	for _, g := range globs {
		flags = append(flags, "--glob="+g) // one word: a glob may begin with -
	}
	return append(flags, "--glob=!.git")
}

// streamRipgrep runs ripgrep in dir and gives each line of its output to take until that returns
// false.
func streamRipgrep(ctx context.Context, rg, dir string, args []string, take func(line []byte) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, rg, args...)
	cmd.Dir, cmd.WaitDelay, cmd.Env = dir, 2*time.Second, childenv.Own(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stopped, readErr := drainLines(out, take)
	if stopped {
		cancel()
	}
	err = cmd.Wait()
	if stopped || ctx.Err() != nil {
		return nil
	}
	return errors.Join(readErr, rgError(err, stderr.String()))
}

func drainLines(out io.Reader, take func(line []byte) bool) (stopped bool, err error) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 && !take(line) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// rgError takes exit code 1 for "nothing found" and silent trouble for unreadable files.
func rgError(err error, stderr string) error {
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && (exit.ExitCode() == 1 || strings.TrimSpace(stderr) == "") {
		return nil
	}
	if stderr != "" {
		return errors.New(strings.TrimSpace(stderr))
	}
	return err
}

// rgMessage is one line of ripgrep's JSON output.
type rgMessage struct {
	Type string `json:"type"`
	Data struct {
		Path   rgText `json:"path"`
		Lines  rgText `json:"lines"`
		Number int    `json:"line_number"`
		Binary *int64 `json:"binary_offset"`
	} `json:"data"`
}

// rgText is text, or bytes in base64 where it is not UTF-8.
type rgText struct {
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
}

func (t rgText) String() string {
	if t.Bytes != nil {
		return string(t.Bytes)
	}
	return t.Text
}

// runRipgrep searches with ripgrep. Its answers are those of Grep.Walk, in the same order.
func runRipgrep(ctx context.Context, g files.Grep, rg, root string, add func(files.Found) bool) error {
	args := append(rgFlags(g.Globs), "--json", "--crlf", "--sort", "path", "--encoding", "none",
		"--context", strconv.Itoa(g.Context), "--regexp="+g.Pattern, "--", "./")
	var f files.Found
	return streamRipgrep(ctx, rg, root, args, func(line []byte) bool {
		var m rgMessage
		if json.Unmarshal(line, &m) != nil {
			return true
		}
		switch m.Type {
		case "begin":
			f = files.Found{Path: filepath.ToSlash(filepath.Clean(m.Data.Path.String()))}
		case "match", "context":
			text := strings.TrimRight(m.Data.Lines.String(), "\r\n")
			f.Hits = append(f.Hits, files.Hit{Line: m.Data.Number, Text: text, Context: m.Type == "context"})
		case "end":
			return m.Data.Binary != nil || add(f)
		}
		return true
	})
}

// rgFiles lists files.
func rgFiles(ctx context.Context, rg, root string, globs []string, add func(path string) bool) error {
	args := append(rgFlags(globs), "--files", "--", "./")
	return streamRipgrep(ctx, rg, root, args, func(line []byte) bool {
		return add(filepath.ToSlash(filepath.Clean(strings.TrimRight(string(line), "\r\n"))))
	})
}
