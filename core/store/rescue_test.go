package store

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/core/chat"
	"hermes/core/testwait"
)

const marked = 100 // messages of the sample

// whole is a database as its files: the suffix of each, and its content.
type whole map[string][]byte

func (w whole) clone() whole {
	out := whole{}
	for suffix, data := range w {
		out[suffix] = bytes.Clone(data)
	}
	return out
}

func (w whole) write(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.db")
	for suffix, data := range w {
		must(t, os.WriteFile(path+suffix, data, 0o600))
	}
	return path
}

func takeFiles(t testing.TB, path string) whole {
	t.Helper()
	out := whole{}
	for _, suffix := range []string{"", "-wal"} {
		if data, err := os.ReadFile(path + suffix); err == nil {
			out[suffix] = data
		}
	}
	return out
}

func marker(i int) string { return fmt.Sprintf("marker-%04d;", i) }

// sampleFiles are a database of a hundred messages in three sessions, closed in order, and another
// with all of it in the log as a crash leaves it. Each page that a message is on holds its marker.
// Some were deleted: there are free pages.
func sampleFiles(t testing.TB) (closed, crashed whole) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	for _, uid := range []string{"one", "two", "three", "gone"} {
		create(t, s, uid)
		must(t, s.SetPrompt(bg, uid, "the prompt of "+uid))
		must(t, s.SetMeta(bg, uid, "key", "value of "+uid))
	}
	for i := range 30 {
		say(t, s, "gone", strings.Repeat(fmt.Sprintf("deleted-%04d;", i), 800))
	}
	for i := range marked {
		m := &chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: "x" + strings.Repeat(marker(i), 5+40*(i%20))}
		if i%10 == 3 {
			m.Role = chat.RoleAssistant
		}
		_, err := s.Append(bg, []string{"one", "two", "three"}[i%3], m, Derived{})
		must(t, err)
	}
	must(t, s.DeleteSession(bg, "gone"))
	crashed = takeFiles(t, path)
	must(t, s.Close())
	closed = takeFiles(t, path)
	if len(crashed["-wal"]) == 0 || len(closed["-wal"]) != 0 {
		t.Fatalf("no log: %d %d", len(crashed["-wal"]), len(closed["-wal"]))
	}
	return closed, crashed
}

// roots are the first pages of all tables and indexes of a database, and pages further down of the
// table of messages.
func roots(t testing.TB, w whole) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(w.write(t)))
	must(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT name, rootpage FROM sqlite_schema WHERE rootpage>0")
	must(t, err)
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var name string
		var page int
		must(t, rows.Scan(&name, &page))
		out[name] = page
	}
	must(t, rows.Err())
	root := w[""][(out["messages"]-1)*page:]
	if root[0] != 5 {
		t.Fatalf("the table of messages has one page only (kind %d)", root[0])
	}
	for i, name := range []string{"the first leaf", "the second leaf"} {
		cell := binary.BigEndian.Uint16(root[12+2*i:])
		out[name] = int(binary.BigEndian.Uint32(root[cell:]))
	}
	out["the last leaf"] = int(binary.BigEndian.Uint32(root[8:]))
	return out
}

// survivors are the messages no page of which differs between two states of the file.
func survivors(before, after []byte) map[int]bool {
	out := map[int]bool{}
	for i := range marked {
		out[i] = true
	}
	for at := 0; at < len(before); at += page {
		old := before[at:min(at+page, len(before))]
		if at+len(old) <= len(after) && bytes.Equal(old, after[at:at+len(old)]) {
			continue
		}
		for _, m := range regexp.MustCompile(`marker-(\d{4});`).FindAllSubmatch(old, -1) {
			i, _ := strconv.Atoi(string(m[1]))
			delete(out, i)
		}
	}
	return out
}

// damages are ways to damage a closed database. Each changes the files; rnd is the same for each
// run.
func damages(t testing.TB, w whole) map[string]func(w whole, rnd *rand.Rand) {
	out := map[string]func(w whole, rnd *rand.Rand){}
	zero := func(pages ...int) func(whole, *rand.Rand) {
		return func(w whole, _ *rand.Rand) {
			for _, n := range pages {
				clear(w[""][(n-1)*page : n*page])
			}
		}
	}
	at := func(offset int, data ...byte) func(whole, *rand.Rand) {
		return func(w whole, _ *rand.Rand) { copy(w[""][offset:], data) }
	}
	all := roots(t, w)
	for name, n := range all {
		out["zeroed "+name] = zero(n)
	}
	for _, name := range []string{"messages", "sessions", "meta", "sessions_recent", "fts_talk_data", "the first leaf", "the last leaf"} {
		n := all[name]
		out["random "+name] = func(w whole, rnd *rand.Rand) {
			for i := range page {
				w[""][(n-1)*page+i] = byte(rnd.Uint32())
			}
		}
		out["half of "+name] = func(w whole, _ *rand.Rand) { clear(w[""][(n-1)*page+page/2 : n*page]) }
		out["too many cells in "+name] = at((n-1)*page+3, 0x7f, 0xff)
		out["wrong kind of "+name] = at((n-1)*page, 10)
		out["cells of nowhere in "+name] = at((n-1)*page+12, 0xff, 0xff, 0, 1, 0xff, 0xf0, 0, 0)
	}
	out["a tree in itself"] = func(w whole, _ *rand.Rand) {
		binary.BigEndian.PutUint32(w[""][(all["messages"]-1)*page+8:], uint32(all["messages"]))
	}
	out["two tables in one"] = func(w whole, _ *rand.Rand) {
		binary.BigEndian.PutUint32(w[""][(all["messages"]-1)*page+8:], uint32(all["sessions"]))
	}
	header := map[string]func(whole, *rand.Rand){
		"magic": at(0, 0, 0, 0), "page size": at(16, 0x77, 0x77), "smaller pages": at(16, 2, 0), "larger pages": at(16, 0x20, 0), "the largest pages": at(16, 0, 1), "all of it": func(w whole, _ *rand.Rand) { clear(w[""][:100]) }, "versions": at(18, 9, 9),
		"reserved": at(20, 200), "page count": at(28, 0, 0, 0, 3), "free list": at(32, 0, 0, 0xff, 0), "free count": at(36, 0xff, 0xff), "format": at(44, 0, 0, 0, 99),
		"encoding": at(56, 0, 0, 0, 7), "application": at(68, 1, 2, 3, 4), "the whole page": zero(1),
	}
	for name, do := range header {
		out["header: "+name] = do
	}
	out["header: the free list is a ring"] = func(w whole, _ *rand.Rand) {
		if first := int(binary.BigEndian.Uint32(w[""][32:])); first > 0 {
			binary.BigEndian.PutUint32(w[""][(first-1)*page:], uint32(first))
		}
	}
	for _, size := range []int{0, 1, 50, 100, 1000, page, page + 1, 10 * page, len(w[""]) / 2, len(w[""]) - page, len(w[""]) - 1} {
		out[fmt.Sprintf("cut at %d", size)] = func(w whole, _ *rand.Rand) { w[""] = w[""][:size] }
	}
	out["a page and the header"] = func(w whole, rnd *rand.Rand) { header["all of it"](w, rnd); zero(all["the second leaf"])(w, rnd) }
	out["an index, a leaf and the end"] = func(w whole, rnd *rand.Rand) {
		zero(all["sessions_recent"], all["the first leaf"])(w, rnd)
		w[""] = w[""][:len(w[""])-3*page]
	}
	out["ten pages"] = func(w whole, rnd *rand.Rand) {
		for range 10 {
			zero(2+rnd.IntN(len(w[""])/page-1))(w, rnd)
		}
	}
	out["bytes everywhere"] = func(w whole, rnd *rand.Rand) {
		for range 40 {
			w[""][page+rnd.IntN(len(w[""])-page)] ^= 0xff
		}
	}
	out["garbage behind it"] = func(w whole, _ *rand.Rand) { w[""] = append(w[""], []byte(strings.Repeat("garbage", 3000))...) }
	out["the log of another"] = func(w whole, _ *rand.Rand) { w["-wal"] = []byte(strings.Repeat("garbage", 3000)) }
	return out
}

// Whatever is damaged, every message that lies on pages which are as they were is there afterwards,
// the store works at the latest when it is opened a second time, what is derived is made anew,
// nothing that was deleted comes back while that can be known, and the damaged file is kept.
func TestDamageLosesNothingReadable(t *testing.T) {
	closed, _ := sampleFiles(t)
	kinds := damages(t, closed)
	if len(kinds) < 60 {
		t.Fatalf("%d kinds of damage", len(kinds))
	}
	for name, do := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := closed.clone()
			do(w, rand.New(rand.NewPCG(1, 2)))
			survives(t, w.write(t), survivors(closed[""], w[""]))
		})
	}
}

// survives opens a damaged database, works with it, and looks for what must be there.
func survives(t *testing.T, path string, want map[int]bool) {
	t.Helper()
	meet(t, path)
	s, err := Open(bg, path, Options{})
	must(t, err)
	r := s.Report()
	got := texts(t, s)
	lost := 0
	for i := range want {
		if !strings.Contains(got, "x"+marker(i)) {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d readable messages are lost: %+v", lost, len(want), r)
	}
	if strings.Contains(got, "deleted-") && !strings.HasSuffix(t.Name(), "the_whole_page") { // then nobody knows which pages are free
		t.Error("what was deleted is back")
	}
	if r.MovedTo != "" && (!fileExists(r.MovedTo) || len(r.Notes) == 0) {
		t.Errorf("moved aside without a trace: %+v", r)
	}
	create(t, s, "new")
	say(t, s, "new", "works again")
	eventually(t, "the index is rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
	if problems, err := s.Check(bg); err != nil || len(problems) > 0 {
		t.Logf("found by the check: %q %v", problems, err)
		must2(t, s.Close(), isDamage)
		s, err = Open(bg, path, Options{})
		must(t, err)
		eventually(t, "the index is rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
	}
	checkClean(t, s)
	if f := search(t, s, "works again"); f.Total != 1 {
		t.Errorf("found %d", f.Total)
	}
	must(t, s.Close())
}

// meet opens and reads once: damage further down shows only to who goes there.
func meet(t *testing.T, path string) {
	t.Helper()
	s, err := Open(bg, path, Options{})
	if err != nil {
		t.Fatalf("the first open: %v", err)
	}
	t.Logf("%q", s.Report().Notes)
	if s.Report().MovedTo == "" {
		_, _ = s.Check(bg)
	}
	must2(t, s.Close(), isDamage)
}

func texts(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	sessions, err := s.Sessions(bg, ListQuery{Limit: 1000, Archived: true})
	must(t, err)
	for _, x := range sessions {
		messages, _, err := s.Messages(bg, x.UID, MessageQuery{Limit: All})
		must(t, err)
		for _, m := range messages {
			b.WriteString(m.Text + "\n")
		}
	}
	return b.String()
}

// A log as a crash leaves it, damaged: what was committed before and behind the break is there.
func TestDamagedLogs(t *testing.T) {
	_, crashed := sampleFiles(t)
	n := len(crashed["-wal"])
	logged := 0 // messages that are in the log, of this round or an earlier one
	for i := range marked {
		if i%20 < 8 && bytes.Count(crashed["-wal"], []byte(marker(i))) > 4+40*(i%20) { // on one page
			logged++
		}
	}
	if logged < 5 {
		t.Fatalf("%d messages in the log", logged)
	}
	frame := func(i int) int { return 32 + i*(24+page) }
	for name, c := range map[string]struct {
		do    func(w whole)
		least int
	}{
		"whole":                 {func(whole) {}, marked},
		"torn in the last one":  {func(w whole) { w["-wal"] = w["-wal"][:n-page/2] }, marked - 2},
		"the last one broken":   {func(w whole) { w["-wal"][n-100] ^= 1 }, marked - 2},
		"broken in the middle":  {func(w whole) { w["-wal"][frame((n-32)/(24+page)/2)+200] ^= 1 }, marked * 9 / 10},
		"broken at the start":   {func(w whole) { w["-wal"][frame(1)+2000] ^= 1 }, marked * 9 / 10},
		"its header's checksum": {func(w whole) { w["-wal"][25] ^= 1 }, marked * 9 / 10},
		"database emptied":      {func(w whole) { w[""] = nil }, logged},
		"database gone":         {func(w whole) { delete(w, "") }, logged},
		"database zeroed":       {func(w whole) { clear(w[""]) }, logged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crashed.clone()
			c.do(w)
			path := w.write(t)
			meet(t, path)
			s := openAt(t, path, Options{})
			got, have := texts(t, s), 0
			for i := range marked {
				if strings.Contains(got, "x"+marker(i)) {
					have++
				}
			}
			if have < c.least {
				t.Errorf("%d messages, want %d: %q", have, c.least, s.Report().Notes)
			}
			create(t, s, "new")
			say(t, s, "new", "works again")
			eventually(t, "the index is rebuilt", func() bool { _, on := s.Rebuilding(); return !on })
			checkClean(t, s)
		})
	}
}

// Rows of the list of tables can be broken like any others.
func TestDamagedSchema(t *testing.T) {
	closed, _ := sampleFiles(t)
	for name, query := range map[string]string{
		"an index's text":         "UPDATE sqlite_schema SET sql='CREATE INDEX oops' WHERE name='sessions_recent'",
		"a table's text":          "UPDATE sqlite_schema SET sql='CREATE TABLE messages(' WHERE name='messages'",
		"a table's root":          "UPDATE sqlite_schema SET rootpage=0 WHERE name='messages'",
		"a root of another table": "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='sessions') WHERE name='messages'",
		"a root behind the end":   "UPDATE sqlite_schema SET rootpage=99999 WHERE name='sessions_parent'",
		"a table's name":          "UPDATE sqlite_schema SET name='massages', tbl_name='massages' WHERE name='messages'",
		"meta missing":            "DELETE FROM sqlite_schema WHERE name='meta' OR tbl_name='meta'",
		"messages missing":        "DELETE FROM sqlite_schema WHERE tbl_name='messages'",
		"all missing":             "DELETE FROM sqlite_schema",
		"a table of the index":    "DELETE FROM sqlite_schema WHERE name='fts_talk_data'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := closed.clone().write(t)
			execFile(t, path, "PRAGMA writable_schema=ON; "+query)
			survives(t, path, survivors(closed[""], closed[""]))
		})
	}
}

// A rescue that was cut off at any step goes on.
func TestRescueGoesOnAfterACrash(t *testing.T) {
	closed, _ := sampleFiles(t)
	all := survivors(closed[""], closed[""])
	good := closed.clone()
	for name, prepare := range map[string]func(t *testing.T, path string){
		"half of a new one": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".new", good[""][:20*page], 0o600))
			must(t, os.WriteFile(path+".new-wal", []byte("garbage"), 0o600))
			must(t, os.WriteFile(damageFile(path), []byte("malformed\n"), 0o600))
		},
		"before the swap": func(t *testing.T, path string) {
			must(t, os.WriteFile(rescuedFile(path), good[""], 0o600))
			must(t, os.WriteFile(damageFile(path), []byte("malformed\n"), 0o600))
			patchFile(t, path, 0, make([]byte, 5*page))
		},
		"in the swap": func(t *testing.T, path string) {
			must(t, os.WriteFile(rescuedFile(path), good[""], 0o600))
			must(t, os.Remove(path))
			must(t, os.WriteFile(path+"-wal", []byte("of the damaged one"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := closed.clone().write(t)
			prepare(t, path)
			survives(t, path, all)
			for _, suffix := range []string{".new", ".new-wal", ".rescued", ".damaged"} {
				if fileExists(path + suffix) {
					t.Errorf("%s is left", suffix)
				}
			}
		})
	}
}

// Numbers of what was kept and lost are true.
func TestRescueTellsNumbers(t *testing.T) {
	closed, _ := sampleFiles(t)
	w := closed.clone()
	n := roots(t, w)["the first leaf"]
	clear(w[""][(n-1)*page : n*page])
	s := openAt(t, w.write(t), Options{})
	if _, _, err := s.Messages(bg, "one", MessageQuery{Limit: All}); err == nil || !strings.Contains(err.Error(), "repairs it when it starts next") {
		t.Errorf("reading a damaged page: %v", err)
	}
	path := s.path
	must2(t, s.Close(), isDamage)
	if Damaged(path) == "" {
		t.Error("nobody remembers it")
	}
	s = openAt(t, path, Options{})
	want := len(survivors(closed[""], w[""]))
	r := s.Report()
	told := fmt.Sprintf("%d messages in 3 sessions; %d messages missing (1 page could not be read). The damaged file is kept as ", r.Salvaged, marked-r.Salvaged)
	if r.Salvaged < want || r.Salvaged+r.Lost != marked || !strings.Contains(fmt.Sprint(r.Notes), told) {
		t.Errorf("want %d or more messages, %q:\n%+v", want, told, r)
	}
	if Damaged(path) != "" {
		t.Error("it is still called damaged")
	}
}

// An undamaged start pays next to nothing for the probes.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "w.db")
	s := openAt(b, path, Options{})
	fill(b, s, "u", 20_000)
	must(b, s.Close())
	for b.Loop() {
		s, err := Open(bg, path, Options{})
		must(b, err)
		must(b, s.Close())
	}
}

// The time of a rescue is bounded by the size: HERMES_TEST_RESCUE_MESSAGES makes a large one.
func TestRescueOfALargeDatabase(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("HERMES_TEST_RESCUE_MESSAGES"))
	if n == 0 {
		n = 20_000
	}
	path := filepath.Join(t.TempDir(), "w.db")
	s := openAt(t, path, Options{})
	in := Import{Session: Session{UID: "u", Kind: "user", Started: time.Now(), Last: time.Now()}}
	for i := range n {
		m := chat.Message{Role: chat.RoleUser, Status: chat.StatusFinal, Text: strings.Repeat(fmt.Sprint(i, " some output "), 60)}
		in.Messages = append(in.Messages, StoredMessage{Message: m, Active: true})
	}
	_, err := s.ImportSession(bg, in)
	must(t, err)
	must(t, s.Close())
	size := pages(t, path) * page
	patchFile(t, path, 0, make([]byte, 100))
	begun := time.Now()
	s = openAt(t, path, Options{})
	took := time.Since(begun)
	if r := s.Report(); r.Salvaged != n || r.Lost != 0 {
		t.Errorf("%+v", r)
	}
	t.Logf("%d MB in %s", size>>20, took.Round(time.Millisecond))
	if limit := 10*time.Second + time.Duration(size>>20)*200*time.Millisecond; took > testwait.Within(limit) {
		t.Errorf("%d MB took %s", size>>20, took)
	}
}
