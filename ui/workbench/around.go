package workbench

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hermes/core"
	"hermes/core/approval"
	"hermes/core/prompt"
	"hermes/core/session"
	"hermes/ui"
)

// sessionDefaults is how sessions work that say nothing else, once the settings are in effect.
func (w *workbench) sessionDefaults() (ui.Defaults, bool) {
	app, ok := w.boot.appIfReady()
	if !ok {
		return ui.Defaults{}, false
	}
	return ui.Defaults{Level: levelOf(app.Gate.Policy()), Effort: app.Config().Agent.ReasoningEffort}, true
}

// levelOf is the name of what a policy lets run unasked.
func levelOf(p approval.Policy) string {
	switch p.Mode {
	case approval.ModeOff:
		return session.LevelAll
	case approval.ModePlan:
		return session.LevelPlan
	case approval.ModeSmart:
		return string(approval.ModeSmart)
	case approval.ModeManual:
	}
	if names := session.Levels(); p.Level >= 0 && int(p.Level) < len(names) {
		return names[p.Level]
	}
	return ""
}

// lookAround reads what a session stands in: its folder, the branch there, what runs in the
// background, and what was learned and waits.
func (w *workbench) lookAround(ctx context.Context, uid string) ui.Surroundings {
	background, learned := 0, 0
	if app, err := w.boot.waitForApp(ctx); err == nil {
		background, learned = countBackground(app, uid), app.Learning().Waiting()
	}
	dir := w.folderOf(uid)
	return ui.Surroundings{Folder: shortFolder(dir), Branch: branchOf(dir), Background: background, Learned: learned}
}

func countBackground(app *core.App, uid string) (n int) {
	for _, p := range app.Backends().Processes(uid) {
		if p.Running {
			n++
		}
	}
	return n
}

// shortFolder shows a path as shells do: the person's own folder is ~.
func shortFolder(dir string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(dir, home); err == nil && ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}

// branchOf is the branch of the repository that holds dir; the start of the commit when none is
// checked out, "" outside of a repository. It runs no git: hooks and settings of a project must
// not act because somebody looks.
func branchOf(dir string) string {
	git := filepath.Join(prompt.ProjectRoot(dir), ".git")
	if link := strings.TrimPrefix(readLine(git), "gitdir: "); link != "" { // a worktree of another folder
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(git), link)
		}
		git = link
	}
	head := readLine(filepath.Join(git, "HEAD"))
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch
	}
	const shortCommit = 7
	return head[:min(len(head), shortCommit)]
}

// readLine is the first line of a small regular file; "" when there is none.
func readLine(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 4 << 10
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
