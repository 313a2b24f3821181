package skill

import (
	"fmt"
	"strings"
	"testing"

	"hermes/skills"
)

// Of many skills a prompt holds the person's, what was used, and the ones to begin with.
func TestAPromptHoldsFewSkills(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for i := range 20 {
		entries = append(entries, Entry{Name: fmt.Sprintf("own-%02d", i)})
	}
	for i := range 20 {
		entries = append(entries, Entry{Name: fmt.Sprintf("first-%02d", i), Builtin: true, Starter: true})
	}
	entries = append(entries, Entry{Name: "rare", Builtin: true}, Entry{Name: "used", Builtin: true})
	active := chooseActive(entries, map[string]skills.Counts{"used": {Views: 1}, "first-07": {Uses: 3}})
	var names []string
	for _, e := range active {
		names = append(names, e.Name)
	}
	list := strings.Join(names, " ")
	if len(active) != activeSkills || strings.Count(list, "own-") != 20 || strings.Contains(list, "rare") ||
		!strings.Contains(list, "used") || !strings.Contains(list, "first-07") {
		t.Errorf("%d: %s", len(active), list)
	}
}

// The other skills are found by the words of a task.
func TestSkillsAreFoundByTheWordsOfATask(t *testing.T) {
	t.Parallel()
	l, _ := library(t, nil)
	all, _ := l.List(t.Context(), "", Audience{Tools: []string{"terminal", "execute_code", "skill_manage"}})
	for query, want := range map[string]string{
		"the disk is full":                           "free-disk-space",
		"I lost commits after a reset":               "recover-lost-work",
		"translate the messages to German":           "translate-document",
		"a crontab line that runs every night":       "write-cron-job",
		"the query is slow, which index?":            "speed-up-query",
		"which commit broke the build, bisect":       "find-regression",
		"does anything in this notebook need cells?": "notebook-to-script",
		"papers on arXiv about vector search":        "search-papers",
	} {
		found := Matching(all, query)
		if len(found) == 0 || !strings.Contains(fmt.Sprint(found[:min(3, len(found))]), want) {
			t.Errorf("%s: %v", query, found)
		}
	}
	if found := Matching(all, "xylophone"); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}
