package dbfile

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"hermes/core/testskip"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sample makes a database of every kind of value and of rows that are longer than a page. What ends
// in the log stays there.
func sample(t testing.TB, pageSize int) (path string, want map[int64]string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	db.SetMaxOpenConns(1)
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := db.Exec(query, args...)
		must(t, err)
	}
	exec(fmt.Sprintf("PRAGMA page_size=%d", pageSize))
	exec("PRAGMA journal_mode=WAL")
	exec("CREATE TABLE other(x); CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c); CREATE INDEX t_a ON t(a); INSERT INTO other VALUES(1)")
	values := []any{nil, 0, 1, -1, 127, -129, 40000, -9000000, int64(1) << 33, int64(-1) << 46, int64(1) << 62, 1.5, "", "text", []byte{}, []byte{0, 1, 2}}
	exec("BEGIN")
	for i := range 3000 {
		id := int64(i*7 + 1)
		if i == 5 {
			id = -3
		}
		exec("INSERT INTO t VALUES(?,?,?,?)", id, values[i%len(values)], strings.Repeat("x", i%50), strings.Repeat("long ", i%3000*(i%7)/6))
	}
	exec("COMMIT")
	exec("PRAGMA wal_checkpoint(TRUNCATE)")
	exec("DELETE FROM t WHERE id BETWEEN 7000 AND 9000")
	exec("UPDATE t SET b='changed in the log' WHERE id%100=1")
	rows, err := db.Query("SELECT id, a, b, c FROM t")
	must(t, err)
	defer rows.Close()
	want = map[int64]string{}
	for rows.Next() {
		var id int64
		v := make([]any, 3)
		must(t, rows.Scan(&id, &v[0], &v[1], &v[2]))
		want[id] = show(v)
	}
	must(t, rows.Err())
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		must(t, err)
		must(t, os.WriteFile(copied+suffix, data, 0o600))
	}
	must(t, db.Close())
	return copied, want
}

func show(values []any) string {
	return fmt.Sprintf("%T %v|%v|%v", values[0], values[0], values[1], values[2])
}

func read(t testing.TB, path string) (got map[int64]string, whole bool) {
	t.Helper()
	f, err := Open(path)
	must(t, err)
	defer f.Close()
	got = map[int64]string{}
	whole = f.Table(f.Roots()["t"], func(r Row) bool {
		if len(r.Values) == 4 {
			got[r.ID] = show(r.Values[1:])
		}
		return len(r.Values) == 4
	})
	return got, whole
}

// The rows are those that SQLite reads, of the file and of the log, for every size of page.
func TestRowsAreThoseOfSQLite(t *testing.T) {
	testskip.WithoutRace(t, "reads four databases byte by byte")
	for _, size := range []int{512, 1024, 4096, 65536} {
		path, want := sample(t, size)
		got, whole := read(t, path)
		if !whole || len(got) != len(want) {
			t.Errorf("pages of %d: %d rows, want %d, whole %v", size, len(got), len(want), whole)
		}
		for id, row := range want {
			if got[id] != row {
				t.Fatalf("pages of %d, row %d:\n got %.200s\nwant %.200s", size, id, got[id], row)
			}
		}
	}
}

func flip(t testing.TB, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	must(t, err)
	b[0] ^= 0xff
	_, err = f.WriteAt(b, at)
	must(t, err)
}

// What was committed behind a broken frame is told, and its rows are there.
func TestBrokenLog(t *testing.T) {
	path, want := sample(t, 4096)
	if LogBroken(path) {
		t.Fatal("a whole log is called broken")
	}
	must(t, os.Truncate(path+"-wal", func() int64 { i, _ := os.Stat(path + "-wal"); return i.Size() - 100 }()))
	if LogBroken(path) {
		t.Error("a torn end is called broken: it was never acknowledged")
	}
	flip(t, path+"-wal", logHeader+frameHeader+2000)
	if !LogBroken(path) {
		t.Fatal("a break in the middle is not seen")
	}
	f, err := Open(path)
	must(t, err)
	defer f.Close()
	changed := 0
	f.Behind(func(r Row) {
		if len(r.Values) == 4 && r.Values[2] == "changed in the log" && want[r.ID] == show(r.Values[1:]) {
			changed++
		}
	})
	if changed < 10 {
		t.Errorf("%d changed rows behind the break", changed)
	}
}

// Rows are found without a root, and without a header.
func TestStrays(t *testing.T) {
	path, want := sample(t, 4096)
	for _, suffix := range []string{"", "-wal"} { // a log of its own says nothing about pages that are zeroed below it
		data, err := os.ReadFile(path + suffix)
		must(t, err)
		if suffix == "" {
			copy(data, make([]byte, 4096))
		}
		must(t, os.WriteFile(path+suffix, data, 0o600))
	}
	must(t, os.Remove(path+"-wal"))
	f, err := Open(path)
	must(t, err)
	defer f.Close()
	if n := len(f.Roots()); n != 0 {
		t.Fatalf("%d roots", n)
	}
	found := 0
	f.Strays(func(r Row) {
		if len(r.Values) == 4 {
			found++
		}
	})
	if found < len(want) {
		t.Errorf("%d rows, want %d or more", found, len(want))
	}
}

func TestNothingToRead(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error")
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder is a database")
	}
}

// Whatever the bytes are, reading ends, and no row is larger than the file.
func FuzzOpen(f *testing.F) {
	path, _ := sample(f, 512)
	data, err := os.ReadFile(path)
	must(f, err)
	log, err := os.ReadFile(path + "-wal")
	must(f, err)
	data, log = data[:min(len(data), 40<<10)], log[:min(len(log), 20<<10)]
	f.Add(data, log)
	f.Add(data[:700], []byte{})
	f.Add(bytes.Repeat([]byte{13}, 3000), log[:40])
	f.Add([]byte{}, log)
	f.Fuzz(func(t *testing.T, data, log []byte) {
		path := filepath.Join(t.TempDir(), "a.db")
		must(t, os.WriteFile(path, data, 0o600))
		must(t, os.WriteFile(path+"-wal", log, 0o600))
		file, err := Open(path)
		must(t, err)
		defer file.Close()
		visit := func(r Row) bool {
			for _, v := range r.Values {
				if text, ok := v.(string); ok && len(text) > len(data)+len(log)+65536 {
					t.Fatalf("a text of %d bytes", len(text))
				}
			}
			return true
		}
		for _, root := range file.Roots() {
			file.Table(root, visit)
		}
		file.Strays(func(r Row) { visit(r) })
		file.Behind(func(r Row) { visit(r) })
	})
}
