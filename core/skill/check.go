package skill

import (
	"crypto/sha256"
	"path/filepath"
	"runtime"
	"sync"

	"hermes/core/crash"
	"hermes/skills"
)

// scanner is Scan, or something that remembers what it said.
type scanner func(file, text string, first int) []Hit

// CheckAll scans everything of a skill that is text: what `hermes skills check` and the list show.
func CheckAll(s *skills.Skill) []Hit { return checkAll(s, Scan) }

func checkAll(s *skills.Skill, scan scanner) []Hit {
	if s.Source == skills.Builtin {
		return nil
	}
	var out []Hit
	if raw, err := s.Raw(); err == nil {
		out = scan(s.Path(skills.File), string(raw), 1) // holds the front matter too
	}
	if len(out) == 0 {
		out = scanHead(s) // which YAML may write in many ways
	}
	for _, f := range s.Files() {
		if text, err := s.Read(f); err == nil {
			out = append(out, scan(s.Path(f), text, 1)...)
		}
		out = append(out, Scan(s.Path(f), filepath.Base(f), 1)...)
	}
	return out
}

// scanned is what was found in a file with these contents.
type scanned struct {
	sum  [sha256.Size]byte
	hits []Hit
}

// maxScans bounds how many files a Library remembers.
const maxScans = 5000

// scanOnce is Scan, once for the same contents of a file.
func (l *Library) scanOnce(file, text string, first int) []Hit {
	sum := sha256.Sum256([]byte(text))
	l.mu.Lock()
	known, ok := l.scans[file]
	l.mu.Unlock()
	if ok && known.sum == sum {
		return known.hits
	}
	hits := Scan(file, text, first)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.scans) >= maxScans {
		clear(l.scans)
	}
	l.scans[file] = scanned{sum, hits}
	return hits
}

// checkEach scans many skills on all processors and returns what was found in each.
func (l *Library) checkEach(list []*skills.Skill) [][]Hit {
	out := make([][]Hit, len(list))
	next := make(chan int, len(list))
	for i := range list {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		all.Add(1)
		crash.Go("skills", func() {
			defer all.Done()
			for i := range next {
				if list[i].Usable() {
					out[i] = checkAll(list[i], l.scanOnce)
				}
			}
		})
	}
	all.Wait()
	return out
}
