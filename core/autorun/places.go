package autorun

import (
	"os"
	"path/filepath"
	"strings"
)

// Root is the repository around a folder, else the folder. The person's home folder is no project.
func Root(dir string) string {
	home, _ := os.UserHomeDir()
	for up := dir; up != "/" && up != "." && up != home; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return up
		}
	}
	return dir
}

// places are the watched files and folders of a project.
func places(root string) []string {
	out := []string{
		filepath.Join(root, ".envrc"), filepath.Join(root, ".vscode", "tasks.json"), filepath.Join(root, ".husky"), filepath.Join(root, ".husky", "_"),
	}
	if st, err := os.Lstat(filepath.Join(root, ".git")); err == nil && !st.IsDir() {
		out = append(out, filepath.Join(root, ".git")) // it says where the repository is
	}
	for _, git := range stores(root) {
		config := filepath.Join(git, "config")
		out = append(out, config, filepath.Join(git, "config.worktree"), filepath.Join(git, "hooks"))
		if dir := hooksPath(config); dir != "" {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(root, dir)
			}
			if strings.HasPrefix(dir, root+"/") && dir != filepath.Join(root, ".husky", "_") && dir != filepath.Join(git, "hooks") {
				out = append(out, dir)
			}
		}
	}
	return out
}

const maxModules = 20

// stores are the folders in which git keeps the repository, those of its submodules among them.
func stores(root string) []string {
	git := filepath.Join(root, ".git")
	if data, err := small(git); err == nil { // a worktree, or a submodule
		to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
		if !ok {
			return nil
		}
		git = under(root, strings.TrimSpace(to))
		if data, err := small(filepath.Join(git, "commondir")); err == nil {
			return []string{git, under(git, strings.TrimSpace(string(data)))}
		}
		return []string{git}
	}
	out := []string{git}
	modules, _ := os.ReadDir(filepath.Join(git, "modules"))
	for _, m := range modules[:min(len(modules), maxModules)] {
		if m.IsDir() {
			out = append(out, filepath.Join(git, "modules", m.Name()))
		}
	}
	return out
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// small reads a file of a few words; a folder is an error.
func small(path string) ([]byte, error) {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() || st.Size() > 4<<10 {
		return nil, os.ErrInvalid
	}
	return os.ReadFile(path)
}

func hooksPath(config string) string {
	if st, err := os.Lstat(config); err != nil || !st.Mode().IsRegular() || st.Size() > maxFile {
		return ""
	}
	data, err := os.ReadFile(config)
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
