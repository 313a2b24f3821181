package command

import "strings"

// forcedRefs reports whether git fetch is told to replace branches that are here: +from:to.
func forcedRefs(o options) bool {
	for _, f := range o.operands {
		if strings.HasPrefix(f.text, "+") && strings.Contains(f.text, ":") && !strings.Contains(f.text, ":refs/remotes/") {
			return true
		}
	}
	return false
}

// judgeWorktree judges git worktree: a new folder beside the project is no loss, git takes no old
// one.
func (w *walker) judgeWorktree(sub string, o options) {
	rest := o.operandsAfter(1)
	if o.hasOption("B", "f", "force") && sub == "add" {
		w.gitLoses("worktree add", "may move a branch that is there")
	}
	switch {
	case sub == "add" && len(rest) > 0:
		if p := w.placeOf(rest[0]); (p.kind != placeHome && p.kind != placeOutside) || p.top {
			w.addWrite(rest[0], "writes")
		}
	case sub == "remove":
		w.addEffect(Delete, LevelSensitive, secondOperand(o), "git worktree remove deletes a folder")
	}
}
