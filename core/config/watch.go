package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"hermes/core/crash"
)

// settle is how long the files must be quiet before they are read: editors write in several steps.
const settle = 100 * time.Millisecond

// Change is what an edit of config.yaml or .env led to.
type Change struct {
	Config   *Config   // the settings from now on
	Live     []string  // dotted keys that differ and take effect now
	Next     []string  // dotted keys that differ and wait for the next start
	Problems []Problem // everything that is wrong now
}

// Watch reads the settings again whenever config.yaml or .env changes and sends what became of
// them, until ctx is done; then it closes the channel. Nothing is sent when neither a value nor the
// problems changed. While config.yaml cannot be parsed, or a setting that restricts something
// cannot be read, the former settings stay: half an edit must not loosen a rule. Watch looks at
// folders and not at files, because editors replace files; the home folder is made when it is not
// there.
func Watch(ctx context.Context, o Options, current *Config, problems []Problem) (<-chan Change, error) {
	paths := current.Paths()
	if err := os.MkdirAll(paths.Home, 0o700); err != nil {
		return nil, fmt.Errorf("watch settings: make folder %s: %w", paths.Home, err)
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch settings: %w (edits need a restart to take effect)", err)
	}
	w := &watcher{fs: fs, options: o, current: current, problems: fmt.Sprint(problems), out: make(chan Change)}
	if err := w.watchFolders(); err != nil {
		_ = fs.Close()
		return nil, fmt.Errorf("watch settings in %s: %w (edits need a restart to take effect)", paths.Home, err)
	}
	crash.Go("config watch", func() { w.runLoop(ctx) })
	return w.out, nil
}

type watcher struct {
	fs       *fsnotify.Watcher
	options  Options
	current  *Config
	problems string
	files    map[string]bool // full names that matter: the files, and what links lead to
	out      chan Change
}

// watchFolders watches the folders of the files and of the files that they link to.
func (w *watcher) watchFolders() error {
	w.files = map[string]bool{}
	paths := w.current.Paths()
	for _, name := range []string{paths.ConfigFile, paths.EnvFile, filepath.Join(paths.Home, mcpFile)} {
		w.files[name] = true
		if target, err := realPath(name); err == nil {
			w.files[target] = true
		}
	}
	for name := range w.files {
		dir := filepath.Dir(name)
		err := w.fs.Add(dir)
		if dir == paths.Home && err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) runLoop(ctx context.Context) {
	defer close(w.out)
	defer func() { _ = w.fs.Close() }()
	quiet := time.NewTimer(0)
	quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if w.files[e.Name] && !e.Op.Has(fsnotify.Chmod) {
				quiet.Reset(settle)
			}
		case _, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			quiet.Reset(settle) // events may have been lost
		case <-quiet.C:
			change, news := w.reloadSettings()
			if !news {
				continue
			}
			select {
			case w.out <- change:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (w *watcher) reloadSettings() (Change, bool) {
	next, problems := Load(w.options)
	sound := len(w.current.doubts) == 0
	if next.broken || sound && len(next.doubts) > 0 {
		next = w.current
		if sound {
			problems = sayKept(problems)
		}
	}
	_ = w.watchFolders() // a link may lead elsewhere now; the home folder is watched already
	change := Change{Config: next, Problems: problems}
	change.Live, change.Next = Changed(w.current, next)
	seen := fmt.Sprint(problems)
	news := len(change.Live)+len(change.Next) > 0 || seen != w.problems
	w.current, w.problems = next, seen
	return change, news
}

// sayKept says of problems that the settings of before hold in spite of them.
func sayKept(problems []Problem) []Problem {
	for i := range problems {
		problems[i].Until = ""
	}
	last := problems[len(problems)-1]
	return append(problems, Problem{
		File: last.File, Why: "the settings from before this edit stay in force until it is mended; hermes started anew would refuse what cannot be read",
	})
}
