package doctor

import (
	"context"
	"strings"

	"hermes/core/skill"
	"hermes/skills"
	"hermes/ui/text"
)

// checkSkills looks for skills that cannot be used or are blocked.
func (x *examination) checkSkills(ctx context.Context) {
	lib, project, _, err := x.c.SkillLibrary()
	if err != nil {
		x.addFinding("skills", warn, "", "%v", err)
		return
	}
	counts := map[skill.State]int{}
	rows := lib.Rows(ctx, project)
	for _, r := range rows {
		if r.State != skill.Hidden || r.Source != skills.Builtin { // one's own in place of a built-in one is nothing odd
			counts[r.State]++
		}
	}
	var odd []string
	for _, state := range []skill.State{skill.Blocked, skill.Broken, skill.Hidden} {
		if n := counts[state]; n > 0 {
			odd = append(odd, text.Count(n, "is ", "are ")+string(state))
		}
	}
	if odd != nil {
		x.addFinding("skills", warn, "`hermes skills check` shows file and line", "%d of %s can be used; %s", counts[skill.On], text.Count(len(rows), "skill", "skills"), strings.Join(odd, ", "))
		return
	}
	x.addFinding("skills", good, "", "%s, %d switched off", text.Count(counts[skill.On], "skill", "skills"), counts[skill.Off])
}
