package skills

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// CheckName returns what is wrong with a skill's name, or nil. A name is a folder, a word in the
// prompt and a slash command at once.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name is missing; write name: and a short name in lower case, for example deploy-docs")
	case len(name) > MaxName:
		return fmt.Errorf("the name has %d characters, at most %d are allowed", utf8.RuneCountInString(name), MaxName)
	case name != strings.ToLower(name):
		return fmt.Errorf("the name %q is not in lower case%s", name, suggestName(name))
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || i == len(name)-1 || !strings.ContainsRune("-_.", r)) {
			return fmt.Errorf("the name %q holds %q at place %d; a name has the letters a to z, digits, and - _ . between them%s", name, r, i+1, suggestName(name))
		}
	}
	if strings.Contains(name, "..") {
		return fmt.Errorf("the name %q holds two dots in a row", name)
	}
	return nil
}

// suggestName is "; write " with a name that is near, if there is one.
func suggestName(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	near := strings.Join(parts, "-")
	if len(near) < 2 || len(near) > MaxName {
		return ""
	}
	return "; write " + near
}

// Reserved reports whether a name is a command of the screen, which a skill's must not hide or be
// hidden by.
func Reserved(name string) bool { return slices.Contains(strings.Fields(reserved), name) }

// reserved are the slash commands of this program and of hermes-agent. A test of ui/workbench holds
// the first to it.
const reserved = `
	agents away approvals approve attach background backend back bad ends branch browser btw bundles busy clear codex-runtime commands compact compress
	config connect context copy cost cron curator debug deny details exit experience export fast find fork forget goal good handoff help history
	hooks image insights journey keys kanban layout learn level login logout loop mcp memory memories moa model mouse new next notify output palette panes
	paste personality pet plan platforms plugins pool profile prompt queue quit q reasoning redraw reload reload-mcp reload-skills
	recall reset restart resume retry rollback run save search sessions session set-home sethome settings setup shell shortcuts skill skills skin snapshot
	snap split status statusbar sb steer stop subgoal takeback tasks terminal theme timestamps title todo tools toolsets topic trace trust ts undo update
	editor interrupt remember usage verbose version voice web whoami yolo zoom`

// Folders that the format knows beside SKILL.md.
var folders = []string{"references", "templates", "scripts", "assets"}

// CheckPath returns the cleaned path of a file beside SKILL.md, or why there can be none of this
// name.
func CheckPath(rel string) (string, error) {
	clean := path.Clean(rel)
	switch {
	case rel == "" || clean == ".":
		return "", fmt.Errorf("the path is empty; name a file such as references/notes.md")
	case !utf8.ValidString(rel) || strings.ContainsFunc(rel, isUnsafeRune):
		return "", fmt.Errorf("the path %q holds characters that no path needs", rel)
	case path.IsAbs(rel) || strings.Contains(rel, `\`) || strings.HasPrefix(rel, "~"):
		return "", fmt.Errorf("the path %q is not allowed: it must lie below the skill's folder", rel)
	case len(rel) > 255:
		return "", fmt.Errorf("the path is too long: %d bytes, at most 255", len(rel))
	}
	for _, part := range strings.Split(rel, "/") {
		if part == ".." || strings.HasPrefix(part, ".") {
			return "", fmt.Errorf("the path %q is not allowed: no part of it may begin with a dot", rel)
		}
	}
	if clean == File {
		return clean, nil
	}
	if top, _, below := strings.Cut(clean, "/"); !below || !slices.Contains(folders, top) {
		return "", fmt.Errorf("the path %q is not allowed: files of a skill lie in %s", rel, joinWords(folders))
	}
	return clean, nil
}

// isUnsafeRune are characters that trick readers: controls, blanks that are none, and everything
// without a shape.
func isUnsafeRune(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError || isInvisible(r) }

// isInvisible are characters by which a text looks like another one.
func isInvisible(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff, r == 0x3164, r == 0xffa0, r == 0x115f, r == 0x1160:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	default:
		return false
	}
}
