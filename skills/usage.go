package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hermes/core/atomicfile"
)

// Usage counts what becomes of skills, in the file and shape of hermes-agent (.usage.json in the
// skills folder), so that both programs can use one home. What this program does not know in it
// stays.
type Usage struct {
	path string
	mu   sync.Mutex
	now  func() time.Time
}

// Counts is what is known of one skill.
type Counts struct {
	Uses, Views, Patches int
	CreatedBy            string // "agent", "user", ""
	LastUsed             time.Time
	Last                 time.Time // used, read, changed or made
	Pinned               bool
}

// NewUsage returns the counts that are kept in a skills folder.
func NewUsage(dir string) *Usage {
	return &Usage{path: filepath.Join(dir, ".usage.json"), now: time.Now}
}

// Used counts that a skill was put into a turn.
func (u *Usage) Used(name string) error { return u.countUse(name, "use_count", "last_used_at") }

// Viewed counts that the model read a skill.
func (u *Usage) Viewed(name string) error { return u.countUse(name, "view_count", "last_viewed_at") }

// Patched counts that a skill was changed.
func (u *Usage) Patched(name string) error { return u.countUse(name, "patch_count", "last_patched_at") }

// Created says who made a skill: "agent" or "user".
func (u *Usage) Created(name, by string) error {
	return u.changeRecord(name, func(r map[string]any) {
		r["created_by"], r["created_at"] = by, u.timeNow()
		r["state"], r["archived_at"] = "active", nil
	})
}

// Stale says that nobody used a skill for long.
func (u *Usage) Stale(name string) error {
	return u.changeRecord(name, func(r map[string]any) { r["state"] = "stale" })
}

// Archived says that a skill was removed.
func (u *Usage) Archived(name string) error {
	return u.changeRecord(name, func(r map[string]any) { r["state"], r["archived_at"] = "archived", u.timeNow() })
}

// Restored says that a removed skill is back.
func (u *Usage) Restored(name string) error {
	return u.changeRecord(name, func(r map[string]any) { r["state"], r["archived_at"] = "active", nil })
}

// All returns the counts of every skill.
func (u *Usage) All() map[string]Counts {
	u.mu.Lock()
	defer u.mu.Unlock()
	all, err := u.readRecords()
	if err != nil {
		return nil
	}
	out := make(map[string]Counts, len(all))
	for name, r := range all {
		by, _ := r["created_by"].(string)
		c := Counts{Uses: intOf(r["use_count"]), Views: intOf(r["view_count"]), Patches: intOf(r["patch_count"]), CreatedBy: by}
		if at, ok := r["last_used_at"].(string); ok {
			c.LastUsed, _ = time.Parse(time.RFC3339Nano, at) // an odd time is none
		}
		c.Pinned, _ = r["pinned"].(bool)
		for _, key := range []string{"last_used_at", "last_viewed_at", "last_patched_at", "created_at"} {
			at, _ := r[key].(string)
			if t, err := time.Parse(time.RFC3339Nano, at); err == nil && t.After(c.Last) {
				c.Last = t
			}
		}
		out[name] = c
	}
	return out
}

// Problem says why nothing is counted, nil when nothing stands in the way.
func (u *Usage) Problem() *Problem {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, err := u.readRecords(); err != nil {
		return &Problem{File: u.path, Why: "the use of skills is not counted: " + err.Error(), Fix: "mend or delete the file"}
	}
	return nil
}

func intOf(v any) int {
	f, _ := v.(float64)
	return int(max(min(f, 1e9), 0))
}

func (u *Usage) timeNow() string { return u.now().UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func (u *Usage) countUse(name, counter, last string) error {
	return u.changeRecord(name, func(r map[string]any) { r[counter], r[last] = float64(intOf(r[counter])+1), u.timeNow() })
}

// changeRecord edits one record while no other process does.
func (u *Usage) changeRecord(name string, f func(map[string]any)) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	unlock, err := atomicfile.Lock(u.path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	all, err := u.readRecords()
	if err != nil {
		return err
	}
	r := all[name]
	if r == nil {
		r = map[string]any{
			"created_by": nil, "use_count": 0, "view_count": 0, "last_used_at": nil, "last_viewed_at": nil, "patch_count": 0,
			"last_patched_at": nil, "created_at": u.timeNow(), "state": "active", "pinned": false, "archived_at": nil,
		}
		all[name] = r
	}
	f(r)
	return atomicfile.WriteJSON(u.path, all)
}

func (u *Usage) readRecords() (map[string]map[string]any, error) {
	all := map[string]map[string]any{}
	data, err := os.ReadFile(u.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if all == nil { // null
		all = map[string]map[string]any{}
	}
	return all, nil
}
