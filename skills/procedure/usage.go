package procedure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// manifest reads the packages that a file says a program needs, with their versions.
type manifest func(text string) map[string]string

var manifests = map[string]manifest{
	"package.json": fromPackageJSON, "requirements.txt": fromRequirements, "go.mod": fromGoMod,
}

var (
	requirement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:[=<>~!]=?=?\s*([^\s;,#]+))?`)
	})
	goRequirement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(?:require\s+)?([a-z0-9.-]+\.[a-z]+/\S+)\s+(v\S+)`)
	})
)

func fromPackageJSON(text string) map[string]string {
	var p struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return nil
	}
	out := map[string]string{}
	for _, m := range []map[string]string{p.DevDependencies, p.Dependencies} {
		for name, version := range m {
			out[name] = strings.TrimLeft(version, "^~=v")
		}
	}
	return out
}

func fromRequirements(text string) map[string]string {
	out := map[string]string{}
	for _, m := range requirement().FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}

func fromGoMod(text string) map[string]string {
	out := map[string]string{}
	for _, m := range goRequirement().FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}

const (
	maxUses     = 400
	maxPatterns = 100
)

// use is a line of the project that names a package.
type use struct{ file, text string }

// scanAPIUsage says which package a project uses, in which version and where. Without package it is
// the one that most lines name.
func scanAPIUsage(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	files, err := namesIn(args["version_indicators"])
	if err != nil {
		return nil, fmt.Errorf("version_indicators: %w", err)
	}
	paths, err := namesIn(args["scan_paths"])
	if err != nil {
		return nil, fmt.Errorf("scan_paths: %w", err)
	}
	versions := map[string]string{}
	for _, f := range files {
		if read := manifests[path.Base(f)]; read != nil {
			out := r.runCommand(ctx, s, "cat -- "+shellWord(f)+" 2>/dev/null; true")
			for name, version := range read(out.Text) {
				versions[name] = version
			}
		}
	}
	names := make([]string, 0, len(versions))
	for name := range versions {
		names = append(names, name)
	}
	slices.Sort(names)
	if only := asText(args["package"]); only != "" {
		names = []string{only}
	}
	if len(names) == 0 {
		return nil, errors.New("no package is named in " + strings.Join(files, ", ") + "; give package")
	}
	uses, err := r.usesOf(ctx, s, names, paths)
	if err != nil {
		return nil, err
	}
	name := names[0]
	for _, n := range names {
		if len(uses[n]) > len(uses[name]) {
			name = n
		}
	}
	var patterns, where []any
	for _, u := range uses[name] {
		if !slices.Contains(where, any(u.file)) {
			where = append(where, u.file)
		}
		if len(patterns) < maxPatterns {
			patterns = append(patterns, u.file+": "+u.text)
		}
	}
	return map[string]any{
		"package_name": name, "version": versions[name], "usage_patterns": listOf(patterns), "files": listOf(where), "uses": len(uses[name]),
	}, nil
}

// usesOf finds the lines of some folders that name packages.
func (r *Run) usesOf(ctx context.Context, s *stepRun, names, paths []string) (map[string][]use, error) {
	command := "for d in"
	for _, p := range paths {
		if strings.HasPrefix(p, "-") {
			p = "./" + p
		}
		command += " " + shellWord(p)
	}
	command += `; do [ -e "$d" ] && grep -rInF --exclude-dir=node_modules --exclude-dir=.git`
	for _, n := range names {
		command += " -e " + shellWord(n)
	}
	out := r.runCommand(ctx, s, command+` -- "$d"; done | cut -c1-300 | head -n `+fmt.Sprint(maxUses))
	if out.Failed {
		return nil, out.asError()
	}
	found := map[string][]use{}
	for row := range strings.Lines(out.Text) {
		part := strings.SplitN(strings.TrimSpace(row), ":", 3)
		if len(part) != 3 {
			continue
		}
		for _, n := range names {
			if strings.Contains(part[2], n) {
				found[n] = append(found[n], use{part[0], strings.TrimSpace(part[2])})
			}
		}
	}
	return found, nil
}

// packageName is what packages are called, in every language: nothing that a path could leave by.
var packageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@?[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*$`)
})

// fetchChangelog reads what a package that is installed here brings of its changes. It asks nobody
// outside: found is false when there is none.
func fetchChangelog(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	name := asText(args["package"])
	if !packageName().MatchString(name) {
		return nil, fmt.Errorf("%q is no name of a package", cutText(name))
	}
	word := shellWord(name)
	out := r.runCommand(ctx, s, `d=node_modules/`+word+`; [ -d "$d" ] || d=vendor/`+word+`
[ -d "$d" ] || d=$(go list -m -f '{{.Dir}}' -- `+word+` 2>/dev/null)
[ -d "$d" ] || d=$(python3 -m pip show -f -- `+word+` 2>/dev/null | sed -n 's/^Location: //p')/`+word+`
for f in "$d"/CHANGELOG* "$d"/[Cc]hange[Ll]og* "$d"/CHANGES* "$d"/HISTORY* "$d"/NEWS*; do
if [ -f "$f" ]; then printf '%s\n' "$f"; head -c 30000 "$f"; break; fi; done; true`)
	if out.Failed {
		return nil, out.asError()
	}
	file, text, found := strings.Cut(out.Text, "\n")
	result := map[string]any{
		"package": name, "from_version": asText(args["from_version"]), "to_version": asText(args["to_version"]),
		"found": found, "file": file, "text": text,
	}
	if !found {
		result["file"], result["text"] = "", "no changelog of "+name+" is on this machine; nothing is known of its changes"
	}
	return result, nil
}
