package procedure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/core/clip"
)

const (
	maxUses     = 400
	maxPatterns = 100

	maxManifests = 20
)

// use is a line of the project that names a package.
type use struct{ file, text string }

// scanAPIUsage says which package a project uses, in which version and where. Without package it is
// the one that most lines name.
func scanAPIUsage(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	paths, err := namesIn(args["scan_paths"])
	if err != nil {
		return nil, fmt.Errorf("scan_paths: %w", err)
	}
	needed, files, err := r.packagesNeeded(ctx, s, args["version_indicators"])
	if err != nil {
		return nil, err
	}
	if only := asText(args["package"]); only != "" {
		one, ok := needed[only]
		if !ok {
			one.names = []string{only}
		}
		needed = map[string]neededPackage{only: one}
	}
	if len(needed) == 0 {
		if len(files) == 0 {
			return nil, errors.New("no file of a kind that it knows (package.json, pyproject.toml, Cargo.toml, pom.xml, ...) is here; give package")
		}
		return nil, errors.New("no package is named in " + strings.Join(files, ", ") + "; give package")
	}
	uses, err := r.usesOf(ctx, s, needed, paths)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(needed))
	name := names[0]
	for _, n := range names {
		if len(uses[n]) > len(uses[name]) {
			name = n
		}
	}
	var patterns, where, read []any
	for _, file := range files {
		read = append(read, file)
	}
	for _, u := range uses[name] {
		if !slices.Contains(where, any(u.file)) {
			where = append(where, u.file)
		}
		if len(patterns) < maxPatterns {
			patterns = append(patterns, u.file+": "+u.text)
		}
	}
	return map[string]any{
		"package_name": name, "version": needed[name].version, "usage_patterns": listOf(patterns), "files": listOf(where), "uses": len(uses[name]),
		"version_files": listOf(read),
	}, nil
}

// packagesNeeded reads the packages that some files name, and says which files. Where none of those
// that are asked for is there, every kind that is known is looked for.
func (r *Run) packagesNeeded(ctx context.Context, s *stepRun, indicators any) (map[string]neededPackage, []string, error) {
	var asked, known []string
	if indicators != nil {
		names, err := namesIn(indicators)
		if err != nil {
			return nil, nil, fmt.Errorf("version_indicators: %w", err)
		}
		for _, name := range names {
			asked = append(asked, shellWord(name))
		}
	}
	for _, m := range manifests() {
		known = append(known, m.Files...) // unquoted: the shell knows its *
	}
	var files []string
	for _, words := range [][]string{asked, known} {
		if len(words) == 0 || len(files) > 0 {
			continue
		}
		out := r.runCommand(ctx, s, "for f in "+strings.Join(words, " ")+`; do [ -f "$f" ] && printf '%s\n' "$f"; done; true`)
		if out.Failed {
			return nil, nil, out.asError()
		}
		for line := range strings.Lines(out.Text) {
			if line = strings.TrimSpace(line); manifestOf(line) != nil && len(files) < maxManifests && !slices.Contains(files, line) {
				files = append(files, line)
			}
		}
	}
	needed := map[string]neededPackage{}
	for _, file := range files {
		out := r.runCommand(ctx, s, "cat -- "+shellWord(file)+" 2>/dev/null; true")
		maps.Copy(needed, manifestOf(file).readPackages(out.Text))
	}
	return needed, files, nil
}

// usesOf finds the lines of some folders that name packages.
func (r *Run) usesOf(ctx context.Context, s *stepRun, needed map[string]neededPackage, paths []string) (map[string][]use, error) {
	command := "for d in"
	for _, p := range paths {
		if strings.HasPrefix(p, "-") {
			p = "./" + p
		}
		command += " " + shellWord(p)
	}
	command += `; do [ -e "$d" ] && grep -rwiInF --exclude-dir=node_modules --exclude-dir=.git`
	finders := map[string]*regexp.Regexp{}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		var ways []string
		for _, written := range needed[name].names {
			command += " -e " + shellWord(written)
			ways = append(ways, regexp.QuoteMeta(written))
		}
		finders[name] = regexp.MustCompile(`(?i)(?:^|[^\pL\pN_-])(?:` + strings.Join(ways, "|") + `)(?:[^\pL\pN_-]|$)`)
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
		for name, finder := range finders {
			if finder.MatchString(part[2]) {
				found[name] = append(found[name], use{part[0], strings.TrimSpace(part[2])})
			}
		}
	}
	return found, nil
}

// packageName is what packages are called, in every language: nothing that a path could leave by.
var packageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@?[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*(::?[A-Za-z0-9][A-Za-z0-9._~-]*)*$`)
})

// fetchChangelog reads what a package that is installed here brings of its changes. It asks nobody
// outside: found is false when there is none.
func fetchChangelog(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	name := asText(args["package"])
	if !packageName().MatchString(name) {
		return nil, fmt.Errorf("%q is no name of a package", clip.Runes(name, 60, "…"))
	}
	command := "d="
	for _, m := range manifests() {
		for _, place := range m.Installed {
			command += "\n" + `[ -n "$d" ] || for x in ` + strings.ReplaceAll(place, "{{name}}", shellWord(name)) + `; do [ -d "$x" ] && d=$x; done`
		}
	}
	out := r.runCommand(ctx, s, command+"\n"+`[ -z "$d" ] || for f in "$d"/CHANGELOG* "$d"/[Cc]hange[Ll]og* "$d"/CHANGES* "$d"/HISTORY* "$d"/NEWS*; do
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
