package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kevinburke/ssh_config"
)

// settings is what ~/.ssh/config and /etc/ssh/ssh_config say, read anew for each connection: a
// person edits them while we run. The system's ssh is asked (ask.go), which knows all of its
// language; where there is none, a library reads what it can.
type settings struct {
	home    string
	program *asked               // nil: the library
	files   []*ssh_config.Config // the user's own first
}

const systemConfig = "/etc/ssh/ssh_config"

// readSettings finds out who reads the configuration.
func readSettings(home string, here bool) (settings, error) {
	if program := findSSH(home); program != nil && !here {
		return settings{home: home, program: program}, nil
	}
	return readFiles(home)
}

// readFiles reads the files that exist. Errors name file and line.
func readFiles(home string) (settings, error) {
	s := settings{home: home}
	for _, name := range []string{filepath.Join(home, ".ssh", "config"), systemConfig} {
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, fmt.Errorf("reading the ssh configuration: %w", err)
		}
		file, err := ssh_config.DecodeBytes(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
		if err != nil {
			return s, fmt.Errorf("%s cannot be read (line, column: %w): without an ssh program hermes knows Host, Match host, Match all and Include there", name, err)
		}
		s.files = append(s.files, file)
	}
	return s, nil
}

func homeDir() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return "/"
}

// askAbout asks about a name, before anything else is asked about it.
func (s settings) askAbout(ctx context.Context, alias string) error {
	if s.program == nil {
		return nil
	}
	return s.program.askAbout(ctx, alias)
}

// valuesOf returns every value of a key for a name.
func (s settings) valuesOf(alias, key string) (values []string) {
	if s.program != nil {
		return s.program.valuesOf(alias, key)
	}
	for _, file := range s.files {
		found, err := file.GetAll(alias, key)
		if err == nil { // the only error is a node of an unknown kind, which the parser does not make
			values = append(values, found...)
		}
	}
	return values
}

// firstValue returns the first value, "" when there is none.
func (s settings) firstValue(alias, key string) string {
	if all := s.valuesOf(alias, key); len(all) > 0 {
		return all[0]
	}
	return ""
}

func (s settings) isYes(alias, key string) bool {
	return strings.EqualFold(s.firstValue(alias, key), "yes")
}

// intValue reads a key that is one. "" is 0.
func (s settings) intValue(alias, key string) (int, error) {
	text := s.firstValue(alias, key)
	if text == "" || text == "none" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("the ssh configuration says %s %q for %s: that is no number", key, text, alias)
	}
	return n, nil
}

func (s settings) connectTimeout(alias string) (time.Duration, error) {
	n, err := s.intValue(alias, "ConnectTimeout")
	if err != nil || n == 0 {
		return defaultTimeout, err
	}
	return min(time.Duration(n)*time.Second, 5*time.Minute), nil
}

// expandPath replaces ~ and the tokens of a path in the configuration. One with a token that is not
// known here is left as it is.
func (s settings) expandPath(path string, t target) string {
	switch {
	case path == "~":
		path = s.home
	case strings.HasPrefix(path, "~/"):
		path = filepath.Join(s.home, path[2:])
	}
	local := ""
	if u, err := user.Current(); err == nil && strings.Contains(path, "%u") {
		local = u.Username
	}
	path = strings.NewReplacer("%%", "%", "%d", s.home, "%h", t.host, "%n", t.alias, "%p", strconv.Itoa(t.port), "%r", t.user, "%u", local).Replace(path)
	return os.Expand(path, func(name string) string {
		if value, ok := os.LookupEnv(name); ok {
			return value
		}
		return "${" + name + "}"
	})
}
