package recall

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// The questions of LoCoMo with evidence, asked of their own conversation: what part of the evidence
// is among the first 5 and 10. The data is not ours to ship: .ci/locomo FOLDER runs this.
func TestLoCoMo(t *testing.T) {
	folder := os.Getenv("HERMES_LOCOMO")
	if folder == "" {
		t.Skip("HERMES_LOCOMO names no folder with the conversations (.ci/locomo FOLDER)")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no *.json in %s: %v", folder, err)
	}
	var at5, at10, any5, decayed float64
	n := 0
	var talks []loCoMo
	for _, file := range files {
		talks = append(talks, readLoCoMo(t, file)...)
	}
	for _, talk := range talks {
		s, dated := talk.store(t, false), talk.store(t, true)
		for _, qa := range talk.QA {
			if len(qa.Evidence) == 0 {
				continue
			}
			n++
			found := recallKeys(t, s, qa.Question, 10)
			at5 += part(qa.Evidence, found[:min(5, len(found))])
			at10 += part(qa.Evidence, found)
			if part(qa.Evidence, found[:min(5, len(found))]) > 0 {
				any5++
			}
			decayed += part(qa.Evidence, recallKeys(t, dated, qa.Question, 5))
		}
	}
	total := float64(n)
	t.Logf("%d questions: R@5 %.3f, any@5 %.3f, R@10 %.3f; with the ages of the turns R@5 %.3f", n, at5/total, any5/total, at10/total, decayed/total)
	if at5/total < 0.60 || at10/total < 0.70 || decayed < at5-0.05*total {
		t.Error("wanted: R@5 at least 0.60, R@10 at least 0.70, at most 5 points less with ages")
	}
}

type loCoMo struct {
	turns []Item
	QA    []struct {
		Question string
		Evidence []string
	}
}

var diaID = regexp.MustCompile(`D\d+:\d+`)

// readLoCoMo reads a file with one conversation, or with a list of them (locomo10.json). A list has
// what was said below "conversation".
func readLoCoMo(t *testing.T, file string) (talks []loCoMo) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	one := map[string]json.RawMessage{}
	if json.Unmarshal(data, &one) == nil {
		return []loCoMo{oneLoCoMo(t, one)}
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("%s is neither a conversation nor a list of them: %v", file, err)
	}
	for _, all := range list {
		if err := json.Unmarshal(all["conversation"], &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		talks = append(talks, oneLoCoMo(t, all))
	}
	return talks
}

func oneLoCoMo(t *testing.T, all map[string]json.RawMessage) (talk loCoMo) {
	t.Helper()
	var qa []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
	}
	_ = json.Unmarshal(all["qa"], &qa)
	for _, q := range qa {
		var ids []string
		for _, e := range q.Evidence {
			ids = append(ids, diaID.FindAllString(e, -1)...)
		}
		talk.QA = append(talk.QA, struct {
			Question string
			Evidence []string
		}{q.Question, ids})
	}
	for n := 1; ; n++ {
		raw, ok := all[fmt.Sprintf("session_%d", n)]
		if !ok {
			return talk
		}
		var date string
		_ = json.Unmarshal(all[fmt.Sprintf("session_%d_date_time", n)], &date)
		at, err := time.Parse("3:04 pm on 2 January, 2006", date)
		if err != nil {
			t.Fatal(err)
		}
		var turns []struct {
			Speaker string `json:"speaker"`
			ID      string `json:"dia_id"`
			Text    string `json:"text"`
			Caption string `json:"blip_caption"`
		}
		if err := json.Unmarshal(raw, &turns); err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			text := turn.Text
			if turn.Caption != "" {
				text += " [" + turn.Caption + "]"
			}
			talk.turns = append(talk.turns, Item{Key: turn.ID, Value: turn.Speaker + ": " + text, Created: at, Session: "locomo", Origin: Import})
		}
	}
}

// store keeps the turns, as if they had all been said now or, with ages, the last one now.
func (talk loCoMo) store(t *testing.T, ages bool) *Store {
	t.Helper()
	turns := slices.Clone(talk.turns)
	now := turns[len(turns)-1].Created.Add(time.Hour)
	s := openTest(t, Options{Now: func() time.Time { return now }})
	for i := range turns {
		if !ages {
			turns[i].Created = now
		}
	}
	if err := s.storeUnread(t, turns); err != nil {
		t.Fatal(err)
	}
	return s
}

func recallKeys(t *testing.T, s *Store, query string, k int) (keys []string) {
	t.Helper()
	found, err := s.Recall(t.Context(), query, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range found.Hits {
		keys = append(keys, h.Key)
	}
	return keys
}

func part(wanted, found []string) float64 {
	if len(wanted) == 0 {
		return 0
	}
	n := 0
	for _, w := range wanted {
		if slices.Contains(found, w) {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}
