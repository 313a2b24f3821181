package autorun

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/core/realpath"
)

// Root is the repository around a folder, else the folder. The person's home folder is no project.
func Root(dir string) string {
	if all := enclosingRepositories(dir); len(all) > 0 {
		return all[0]
	}
	return dir
}

// enclosingRepositories are those around a folder, the nearest first: what starts in an inner one
// reaches the outer ones too.
func enclosingRepositories(dir string) []string {
	var out []string
	home, _ := os.UserHomeDir()
	for up := dir; up != "/" && up != "." && up != home; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			out = append(out, up)
		}
	}
	return out
}

// watchedPlaces are the watched files and folders of a project.
func watchedPlaces(root string) []string {
	out := repositoryPlaces(root)
	for _, repo := range enclosingRepositories(root) {
		if repo != root {
			out = append(out, repositoryPlaces(repo)...)
		}
	}
	return out
}

// repositoryPlaces are the places of one repository.
func repositoryPlaces(root string) []string {
	git := filepath.Join(root, ".git")
	out := []string{git} // as a link or a file it says where the repository is
	for _, store := range gitFolders(git) {
		out = append(out, filesOf(store)...)
		out = append(out, hookFoldersElsewhere(root, store)...)
	}
	return append(out, filepath.Join(root, ".envrc"), filepath.Join(root, ".vscode", "tasks.json"), filepath.Join(root, ".husky"), filepath.Join(root, ".husky", "_"))
}

// newRepositoryPlaces are places that came to be in the repository's own folder since a look.
// Settings and files that lead elsewhere are not followed: who wrote them chose where to, and
// nobody knows how it was there before.
func newRepositoryPlaces(root string) []string {
	git := filepath.Join(root, ".git")
	if st, err := os.Lstat(git); err != nil || !st.IsDir() {
		return nil
	}
	var out []string
	for _, store := range append([]string{git}, submoduleFolders(git)...) {
		out = append(out, filesOf(store)...)
	}
	return out
}

func filesOf(store string) []string {
	out := []string{filepath.Join(store, "config"), filepath.Join(store, "config.worktree"), filepath.Join(store, "commondir"), filepath.Join(store, "hooks")}
	trees, _ := os.ReadDir(filepath.Join(store, "worktrees"))
	for _, t := range trees[:min(len(trees), maxStores)] {
		out = append(out, filepath.Join(store, "worktrees", t.Name(), "config.worktree"), filepath.Join(store, "worktrees", t.Name(), "commondir"))
	}
	return out
}

// hookFoldersElsewhere are folders of hooks in the project that settings or a link lead to.
func hookFoldersElsewhere(root, store string) (out []string) {
	hooks := filepath.Join(store, "hooks")
	link, _ := os.Readlink(hooks)
	for dir, from := range map[string]string{hooksPath(filepath.Join(store, "config")): root, link: store} {
		if dir == "" {
			continue
		}
		dir = joinUnder(from, dir)
		if strings.HasPrefix(dir, root+"/") && dir != filepath.Join(root, ".husky", "_") && dir != hooks && dir != filepath.Join(root, ".git") {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

const (
	maxStores = 50  // submodules, worktrees
	maxWalked = 300 // folders that are gone through to find submodules
)

// gitFolders are the folders in which git keeps the repository, those of its submodules among them.
func gitFolders(git string) []string {
	own := git
	if data, err := readSmallFile(git); err == nil { // a worktree, or a submodule
		to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
		if !ok {
			return nil
		}
		git = joinUnder(filepath.Dir(git), strings.TrimSpace(to))
	}
	out := []string{git}
	if data, err := readSmallFile(filepath.Join(git, "commondir")); err == nil {
		out = append(out, joinUnder(git, strings.TrimSpace(string(data))))
	}
	out = slices.DeleteFunc(out, func(dir string) bool { return dir != own && !isStore(dir) })
	for _, store := range slices.Clone(out) {
		out = append(out, submoduleFolders(store)...)
	}
	return out
}

// isStore keeps a file that leads to any folder from making that a repository.
func isStore(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// submoduleFolders are the submodules' repositories. Their names have slashes in them, and they
// have submodules of their own.
func submoduleFolders(store string) (out []string) {
	todo := []string{filepath.Join(store, "modules")}
	for walked := 0; len(todo) > 0 && walked < maxWalked && len(out) < maxStores; walked++ {
		dir := todo[0]
		todo = todo[1:]
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			at := filepath.Join(dir, e.Name())
			if isStore(at) {
				out = append(out, at)
				at = filepath.Join(at, "modules")
			}
			todo = append(todo, at)
		}
	}
	return out
}

func joinUnder(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readSmallFile reads a file of a few words; a folder is an error.
func readSmallFile(path string) ([]byte, error) { return readRegularFile(path, 4<<10) }

// readRegularFile reads a file of at most so many bytes. What is no file is an error, and is not
// waited for.
func readRegularFile(path string, most int64) ([]byte, error) {
	dir, err := realpath.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	data, whole := readContent(dir, filepath.Base(path), most)
	if !whole {
		return nil, os.ErrInvalid
	}
	return data, nil
}

// readContent reads a file; whole is false for what is larger than most, cannot be read, or is no
// file by now.
func readContent(dir *realpath.Dir, name string, most int64) (data []byte, whole bool) {
	st, err := dir.Lstat(name)
	if err != nil || st.Kind != realpath.Regular || st.Size > most {
		return nil, false
	}
	f, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if st, err = realpath.Fstat(f); err != nil || st.Kind != realpath.Regular {
		return nil, false
	}
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	return data, err == nil && int64(len(data)) <= most
}

func hooksPath(config string) string {
	data, err := readRegularFile(config, maxFile)
	if err != nil || !strings.Contains(strings.ToLower(string(data)), "hookspath") {
		return ""
	}
	for _, s := range Programs(data) {
		if dir, ok := strings.CutPrefix(s, "core.hookspath="); ok {
			return dir
		}
	}
	return ""
}

// hookName reports whether git or husky runs a file in its folder by this name.
func hookName(name string) bool {
	switch name {
	case "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase",
		"post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout",
		"pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit",
		"post-index-change", "h", "husky.sh":
		return true
	}
	return false
}
