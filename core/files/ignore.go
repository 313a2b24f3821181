package files

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	glob    string
	keep    bool // the line began with "!"
	dirOnly bool
	byName  bool // no slash in the line: the last element of the path decides
}

// ignores are the rules of one directory.
type ignores struct {
	dir   string // absolute
	rules []ignoreRule
}

func readIgnores(dir string) ignores {
	data, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	if err != nil || len(data) > 1<<20 {
		return ignores{dir: dir}
	}
	return ignores{dir: dir, rules: parseIgnores(strings.TrimPrefix(string(data), "\ufeff"))}
}

// outerIgnores reads the .gitignore files above root, up to and including the top of its
// repository.
func outerIgnores(root string) []ignores {
	var levels []ignores
	for dir := root; !isRepository(dir) && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		levels = append([]ignores{readIgnores(dir)}, levels...)
	}
	return levels
}

func isRepository(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

func parseIgnores(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(text, "\n") {
		if r, ok := parseIgnore(strings.TrimSuffix(line, "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnore(line string) (ignoreRule, bool) {
	if strings.HasPrefix(line, "#") {
		return ignoreRule{}, false
	}
	line = trimTrailing(line)
	var r ignoreRule
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.keep, line = true, rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	if line == "" {
		return r, false
	}
	r.byName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*" // what is inside, not the folder itself
	}
	// Braces are plain characters in a .gitignore, but alternatives for the matcher.
	r.glob = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, doublestar.ValidatePattern(r.glob)
}

// trimTrailing removes trailing blanks that are not escaped.
func trimTrailing(s string) string {
	for strings.HasSuffix(s, " ") && !strings.HasSuffix(s, `\ `) {
		s = s[:len(s)-1]
	}
	return s
}

func (r ignoreRule) matches(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.byName {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(r.glob, rel)
}

// lastMatch returns the last rule that matches.
func lastMatch(rules []ignoreRule, rel string, isDir bool) (r ignoreRule, hit bool) {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(rel, isDir) {
			return rules[i], true
		}
	}
	return ignoreRule{}, false
}

// isIgnored asks the levels from the innermost out; the first that has a matching rule decides.
func isIgnored(levels []ignores, abs string, isDir bool) bool {
	for i := len(levels) - 1; i >= 0; i-- {
		rel, err := filepath.Rel(levels[i].dir, abs)
		if err != nil {
			continue
		}
		if r, hit := lastMatch(levels[i].rules, filepath.ToSlash(rel), isDir); hit {
			return !r.keep
		}
	}
	return false
}

// Picker decides which entries a walk takes: first the globs of the call, then the .gitignore
// files. A file that a glob names is taken even if it is ignored, as ripgrep does.
type Picker struct {
	rules    []ignoreRule // keep means "leave out" here: a glob of a call names what is wanted
	choosing bool         // some glob names wanted files: others are left out
}

// NewPicker makes one of the globs of a call; a leading ! excludes.
func NewPicker(globs []string) Picker {
	var p Picker
	for _, g := range append(globs[:len(globs):len(globs)], "!.git") {
		r, ok := parseIgnore(g)
		if !ok {
			continue
		}
		p.rules = append(p.rules, r)
		p.choosing = p.choosing || !r.keep
	}
	return p
}

// Wants says whether an entry is taken; rel is its path below the searched folder.
func (p Picker) Wants(rel, abs string, isDir bool, levels []ignores) bool {
	if r, hit := lastMatch(p.rules, rel, isDir); hit {
		return !r.keep
	}
	if p.choosing && !isDir {
		return false
	}
	return !isIgnored(levels, abs, isDir)
}

// Globs splits the alternatives of a glob: "*.{ts,tsx}" becomes "*.ts" and "*.tsx".
func Globs(g string) []string {
	if strings.TrimSpace(g) == "" {
		return nil
	}
	out := []string{g}
	for range 6 {
		var next []string
		for _, s := range out {
			next = append(next, expandBraces(s)...)
		}
		if len(next) == len(out) || len(next) > 64 {
			return out
		}
		out = next
	}
	return out
}

// expandBraces expands the first brace group of s.
func expandBraces(s string) []string {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{s}
	}
	end := strings.IndexByte(s[open:], '}')
	if end < 0 || !strings.Contains(s[open:open+end], ",") || strings.Contains(s[open+1:open+end], "{") {
		return []string{s}
	}
	var out []string
	for part := range strings.SplitSeq(s[open+1:open+end], ",") {
		out = append(out, s[:open]+part+s[open+end+1:])
	}
	return out
}
