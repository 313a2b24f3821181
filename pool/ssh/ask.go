package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/core/childenv"
)

// asked is the system's own ssh, which says by ssh -G what its configuration means for a name:
// Match, Include, tokens and all that later versions bring, and that no library knows. It connects
// to nothing.
type asked struct {
	path string
	file string // -F; "" for the usual files
	from string // what the program takes for ~ ...
	to   string // ... and what we do

	mu    sync.Mutex
	names map[string]map[string][]string // values by name and key in small letters
}

// askWait is how long the answer may take: Match exec runs programs.
const askWait = 20 * time.Second

// findSSH returns the program, nil without one or without anything to read.
func findSSH(home string) *asked {
	own := filepath.Join(home, ".ssh", "config")
	_, noOwn := os.Stat(own)
	_, noSystem := os.Stat(systemConfig)
	me, err := user.Current()
	if err != nil {
		return nil
	}
	path, err := exec.LookPath("ssh")
	if err != nil {
		return nil
	}
	a := &asked{path: path, names: map[string]map[string][]string{}}
	if filepath.Clean(me.HomeDir) == filepath.Clean(home) {
		if noOwn != nil && noSystem != nil {
			return nil
		}
		return a
	}
	if noOwn != nil {
		return nil
	}
	a.file, a.from, a.to = own, filepath.Clean(me.HomeDir)+"/", filepath.Clean(home)+"/" // ssh asks the user database, not HOME
	return a
}

// askAbout asks about one name. Errors are those of the program, which names file and line.
func (a *asked) askAbout(ctx context.Context, alias string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names[alias] != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	args := []string{"-G", "-T"}
	if a.file != "" {
		args = append(args, "-F", a.file)
	}
	cmd := exec.CommandContext(ctx, a.path, append(args, "--", alias)...)
	cmd.WaitDelay, cmd.Env = time.Second, childenv.Own(os.Environ())
	var out, why bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &why
	if err := cmd.Run(); err != nil {
		if said := cleanOutput(why.Bytes()); said != "" {
			err = errors.New(said)
		}
		return fmt.Errorf("the ssh configuration cannot be used: %w", err)
	}
	a.names[alias] = a.parseLines(out.String())
	return nil
}

// parseLines reads lines of a key in small letters and its value.
func (a *asked) parseLines(text string) map[string][]string {
	values := map[string][]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if !ok || value == "" {
			continue
		}
		if a.from != "" {
			words := strings.Split(value, " ")
			for i, w := range words {
				if rest, ok := strings.CutPrefix(w, a.from); ok {
					words[i] = a.to + rest
				}
			}
			value = strings.Join(words, " ")
		}
		values[strings.ToLower(key)] = append(values[strings.ToLower(key)], value)
	}
	return values
}

func (a *asked) valuesOf(alias, key string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.names[alias][strings.ToLower(key)]
}
