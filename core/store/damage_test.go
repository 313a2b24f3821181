package store

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/core/testskip"
)

const page = 4096

// rot is a way to damage a closed database file.
type rot struct {
	name string
	do   func(t *testing.T, path string, rnd *rand.Rand)
}

func patchFile(t *testing.T, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(data, at)
	must(t, err)
}

func pages(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size() / page
}

var rots = []rot{
	{"zero page", func(t *testing.T, path string, rnd *rand.Rand) {
		patchFile(t, path, (1+rnd.Int64N(pages(t, path)-1))*page, make([]byte, page))
	}},
	{"random bytes", func(t *testing.T, path string, rnd *rand.Rand) {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		patchFile(t, path, page+rnd.Int64N((pages(t, path)-1)*page-64), data)
	}},
	{"header", func(t *testing.T, path string, _ *rand.Rand) { patchFile(t, path, 0, make([]byte, 100)) }},
	{"truncated", func(t *testing.T, path string, rnd *rand.Rand) {
		must(t, os.Truncate(path, (1+rnd.Int64N(pages(t, path)-1))*page))
	}},
	{"garbage", func(t *testing.T, path string, _ *rand.Rand) {
		must(t, os.WriteFile(path, []byte(strings.Repeat("not a database at all ", 1000)), 0o600))
	}},
	{"empty", func(t *testing.T, path string, _ *rand.Rand) { must(t, os.Truncate(path, 0)) }},
	{"folder", func(t *testing.T, path string, _ *rand.Rand) {
		must(t, os.Remove(path))
		must(t, os.Mkdir(path, 0o700))
	}},
}

// Whatever is wrong with the file, the store opens and works. What it cannot use lies next to it,
// and nothing is overwritten.
func TestDamagedFiles(t *testing.T) {
	testskip.LongWithoutRace(t, "sixty kinds of damage")
	healthy := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, healthy, Options{})
	fill(t, s, "u", 400)
	must(t, s.Close())
	whole, err := os.ReadFile(healthy)
	must(t, err)
	for _, r := range rots {
		t.Run(r.name, func(t *testing.T) {
			for seed := range uint64(12) {
				path := filepath.Join(t.TempDir(), "w.db")
				must(t, os.WriteFile(path, whole, 0o600))
				r.do(t, path, rand.New(rand.NewPCG(seed, 1)))
				openDamaged(t, path)
			}
		})
	}
}

func openDamaged(t *testing.T, path string) {
	t.Helper()
	s := openAt(t, path, Options{})
	rep := s.Report()
	if rep.MovedTo != "" {
		if !fileExists(rep.MovedTo) || len(rep.Notes) == 0 {
			t.Errorf("moved aside without a trace: %+v", rep)
		}
		create(t, s, "new")
		say(t, s, "new", "works again")
		eventually(t, "the index is rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
		checkClean(t, s)
	} else if _, err := s.Check(bg); err != nil {
		t.Errorf("check: %v", err)
	}
	must2(t, s.Close(), isDamage)
}

// must2 lets one class of error pass: closing a database with a broken page may report it.
func must2(t *testing.T, err error, may func(error) bool) {
	t.Helper()
	if err != nil && !may(err) {
		t.Fatal(err)
	}
}

func TestSalvageOfOneBadPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	fill(t, s, "u", 3000)
	must(t, s.Close())
	n := pages(t, path)
	patchFile(t, path, n/2*page, make([]byte, page))
	if s, err := Open(bg, path, Options{}); err == nil { // the open may not have met the page, reading it does
		_, _, _ = s.Messages(bg, "u", MessageQuery{Limit: All})
		must2(t, s.Close(), isDamage)
	}
	s = openAt(t, path, Options{})
	r := s.report
	if r.Salvaged < 2900 {
		t.Errorf("%d of 3000 messages after one bad page, %d lost", r.Salvaged, r.Lost)
	}
}

func TestDamageInUseByAnotherProcessIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	must(t, os.WriteFile(path, []byte(strings.Repeat("garbage", 1000)), 0o600))
	other := lockShared(path + ".lock")
	defer other.Close()
	if _, err := Open(bg, path, Options{}); err == nil || !strings.Contains(err.Error(), "another hermes") {
		t.Fatalf("open: %v", err)
	}
	if data, _ := os.ReadFile(path); !strings.HasPrefix(string(data), "garbage") {
		t.Error("the file was touched")
	}
}

func execFile(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path))
	must(t, err)
	_, err = db.Exec(query)
	must(t, err)
	must(t, db.Close())
}

func TestNewerAndForeignFilesAreRefused(t *testing.T) {
	newer := filepath.Join(t.TempDir(), "w.db")
	must(t, openAt(t, newer, Options{}).Close())
	execFile(t, newer, "UPDATE meta SET value='99' WHERE key='schema_version'")
	foreign := filepath.Join(t.TempDir(), "w.db")
	execFile(t, foreign, "CREATE TABLE state_meta(x); CREATE TABLE sessions(x); CREATE TABLE messages(x)")
	for path, want := range map[string]error{newer: ErrNewer, foreign: ErrForeign} {
		before, err := os.ReadFile(path)
		must(t, err)
		if _, err := Open(bg, path, Options{}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if path == newer && string(before) != string(after) {
			t.Error("a refused file was changed")
		}
		left, err := filepath.Glob(path + ".corrupt-*")
		must(t, err)
		if len(left) > 0 {
			t.Error("a refused file was moved")
		}
	}
}

func TestSymlinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "w.db")
	target := filepath.Join(dir, "elsewhere", "real.db")
	must(t, os.Mkdir(filepath.Dir(target), 0o700))
	s := openAt(t, target, Options{})
	create(t, s, "u")
	must(t, s.Close())
	must(t, os.Symlink(target, link))
	s = openAt(t, link, Options{})
	say(t, s, "u", "through the link")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if fileExists(link + "-wal") {
		t.Error("the log lies beside the link and not beside the file")
	}
}

// Damage of the index alone costs nothing but a rebuild.
func TestIndexDamageHealsItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	for name, damage := range map[string]string{
		"content":  "UPDATE fts_talk_data SET block=zeroblob(50) WHERE id>10",
		"dropped":  "DROP TABLE fts_talk; DROP TABLE fts_tool",
		"emptied":  "DELETE FROM fts_talk_docsize",
		"outdated": "UPDATE meta SET value='0' WHERE key='fts_version'",
	} {
		t.Run(name, func(t *testing.T) {
			path := path + name
			s := openAt(t, path, Options{})
			fill(t, s, "u", 500)
			must(t, s.Close())
			execFile(t, path, damage)
			s = openAt(t, path, Options{})
			f := search(t, s, "number77")
			if _, on := s.Rebuilding(); !on && len(f.Matches) == 0 { // quiet damage is found by the check
				if problems, err := s.Check(bg); err != nil || len(problems) == 0 {
					t.Fatalf("nobody noticed: %v", err)
				}
			}
			say(t, s, "u", "the conversation goes on")
			if problems, _ := s.Check(bg); len(problems) > 0 {
				t.Log(problems)
			}
			eventually(t, "rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
			for q, want := range map[string]int{"number77": 1, "数据库": 500, "conversation": 1} {
				if f := search(t, s, q); f.Total != want {
					t.Errorf("%s: %d, want %d", q, f.Total, want)
				}
			}
			checkClean(t, s)
		})
	}
}

func TestRebuildGoesOnWhereItStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.db")
	var steps []string
	s := openAt(t, path, Options{})
	const n = 3*rebuildChunk + 10
	fill(t, s, "u", n)
	must(t, s.Close())
	execFile(t, path, "UPDATE meta SET value='0' WHERE key='fts_version'")
	// One step by hand, then a "crash".
	s = openAt(t, path, Options{Progress: func(done, total int64) { steps = append(steps, fmt.Sprint(done, "/", total)) }})
	eventually(t, "rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
	must(t, s.Close())
	if len(steps) != 4 {
		t.Errorf("%d steps: %v", len(steps), steps)
	}
	execFile(t, path, fmt.Sprintf("INSERT INTO meta VALUES('fts_done_to','%d'); INSERT INTO meta VALUES('fts_high','%d'); DELETE FROM fts_talk WHERE rowid BETWEEN 1 AND %d", rebuildChunk+1, n+1, rebuildChunk))
	steps = nil
	s = openAt(t, path, Options{Progress: func(done, total int64) { steps = append(steps, fmt.Sprint(done, "/", total)) }})
	eventually(t, "rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
	if f := search(t, s, "number5"); f.Total != 1 {
		t.Errorf("found %d", f.Total)
	}
	must(t, s.Close())
	if len(steps) == 0 || len(steps) > 2 {
		t.Errorf("went on in %d steps: %v", len(steps), steps)
	}
}
