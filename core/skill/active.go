package skill

import (
	"cmp"
	"slices"
	"strings"

	"hermes/skills"
)

// activeSkills bounds the skills in a prompt. Of five skills models choose the right one; of a
// hundred they seldom do (reference/learning.md, "Skill shadowing"). The others are one
// skills_list away.
const activeSkills = 24

// chooseActive returns the entries that stand in a prompt, in their order: the person's, then
// built-in ones that were used, then those made to begin with.
func chooseActive(entries []Entry, counts map[string]skills.Counts) []Entry {
	uses := func(e Entry) int { return counts[e.Name].Uses + counts[e.Name].Views }
	offered := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return e.Builtin && !e.Starter && uses(e) == 0
	})
	slices.SortStableFunc(offered, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(rankOf(x), rankOf(y)), cmp.Compare(uses(y), uses(x)))
	})
	chosen := map[string]bool{}
	for _, e := range offered[:min(len(offered), activeSkills)] {
		chosen[e.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !chosen[e.Name] })
}

// rankOf puts the person's skills before the program's.
func rankOf(e Entry) int {
	if e.Builtin {
		return 1
	}
	return 0
}

// Matching returns the entries that have words of a query, those with the most of them first.
func Matching(entries []Entry, query string) []Entry {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" ,.;:/_-", r) })
	score := map[string]int{}
	for _, e := range entries {
		name := strings.ToLower(e.Name)
		rest := strings.ToLower(strings.Join(append([]string{e.Category, e.Description}, e.Tags...), " "))
		for _, w := range words {
			w = strings.TrimSuffix(w, "s") // plural forms, cheaply
			switch {
			case len(w) < 2:
			case strings.Contains(name, w):
				score[e.Name] += 3
			case strings.Contains(rest, w):
				score[e.Name]++
			}
		}
	}
	found := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return score[e.Name] == 0 })
	slices.SortStableFunc(found, func(x, y Entry) int { return cmp.Compare(score[y.Name], score[x.Name]) })
	return found
}
