package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"hermes/core/atomicfile"
)

// A rate limit does not end with the program that met it. What rests for one is kept in a small
// file, so that the next start does not ask before its time. Other failures are forgotten: a person
// mends a key, a bill or a network, and starts again.

// restFile is what the file holds: rests by what rests, of which only the hash is there.
type restFile struct {
	Rests map[string]keptRest `json:"rests"`
}

type keptRest struct {
	Since  time.Time `json:"since"` // when it was written
	Until  time.Time `json:"until"`
	Failed int       `json:"failed"`
}

// timeLeft is how much of a rest is left. A clock that was set back makes none longer than it was.
func (k keptRest) timeLeft(now time.Time) time.Duration {
	return boundDuration(min(k.Until.Sub(now), k.Until.Sub(k.Since)))
}

// hashOf names what rests by a hash: keys are secret.
func hashOf(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// KeepIn has h know the rests that other programs wrote to a file, and write its own there. What
// fails is told, and the calls go on without.
func (h *Health) KeepIn(path string, failed func(error)) {
	kept, err := readRests(path)
	if err != nil {
		failed(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.file, h.failed = path, failed
	now := time.Now()
	for id, k := range kept {
		if left := k.timeLeft(now); left > 0 {
			h.rests[id] = rest{until: now.Add(left), failed: max(k.Failed, 1), class: ClassRateLimit}
		}
	}
}

// keepRests writes down how long ids rest now, and that they do not.
func (h *Health) keepRests(ids ...string) {
	h.mu.Lock()
	path, failed := h.file, h.failed
	h.mu.Unlock()
	if path == "" {
		return
	}
	if err := mergeRests(path, func() map[string]keptRest { return h.keptRests(ids) }); err != nil {
		failed(fmt.Errorf("what rests for a rate limit is not known to the next start: %w", err))
	}
}

// keptRests is what the file says of ids: a rest that is over for those that do not rest.
func (h *Health) keptRests(ids []string) map[string]keptRest {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]keptRest{}
	for _, id := range ids {
		out[id] = keptRest{Since: h.known[id], Until: h.known[id]}
		if r := h.rests[id]; r.class == ClassRateLimit {
			out[id] = keptRest{Since: h.known[id], Until: r.until, Failed: r.failed}
		}
	}
	return out
}

// mergeRests puts rests into the file, beside those of other programs that are not over. Of what
// two of them say, the newer holds. What is put in is asked for behind the lock: whoever waited for
// that has newer news by then.
func mergeRests(path string, news func() map[string]keptRest) error {
	unlock, err := atomicfile.Lock(path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := readRests(path)
	if err != nil {
		all = map[string]keptRest{} // a broken file is of no use to anybody
	}
	now := time.Now()
	for id, k := range news() {
		if was := all[id]; !was.Since.After(k.Since) || was.Since.After(now) { // or the clock was set back
			all[id] = k
		}
	}
	for id, k := range all {
		if k.timeLeft(now) == 0 && !k.isFresh(now) {
			delete(all, id)
		}
	}
	data, err := json.Marshal(restFile{all})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o600)
}

// isFresh reports whether another program may not know yet that a rest is over: one that failed
// before, and writes after.
func (k keptRest) isFresh(now time.Time) bool {
	return !k.Since.After(now) && now.Sub(k.Since) < lateNews
}

// lateNews is how long a program may wait for the lock at most.
const lateNews = time.Minute

func readRests(path string) (map[string]keptRest, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f := restFile{Rests: map[string]keptRest{}}
	if err == nil {
		if err = json.Unmarshal(data, &f); err != nil || f.Rests == nil {
			return nil, fmt.Errorf("%s does not hold what rests: %w", path, errors.Join(err, errors.New("it counts as empty")))
		}
	}
	return f.Rests, nil
}
