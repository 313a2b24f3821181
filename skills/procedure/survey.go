package procedure

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Actions that look at files with ordinary commands. A model step sees no file: it could only make
// up what is in them.

const (
	maxFiles     = 200
	manyLines    = 500 // from here on a file is named as a risk
	manyBranches = 60
)

// branching are words that make a program take one of several ways.
const branching = `\b(if|elif|else if|for|while|case|when|match|catch|except)\b|&&|\|\|`

const importing = `^[[:space:]]*(import|from|#include|use|using|require|const .*=[[:space:]]*require)\b`

// analyzeFiles measures files: lines, branches, imports, and whether a test stands beside them.
func analyzeFiles(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	files, err := namesIn(args["files"])
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	out := map[string]any{"files": []any{}, "file_count": 0, "missing": []any{}, "risk_areas": []any{}}
	if len(files) == 0 {
		return out, nil
	}
	lines, err := r.countIn(ctx, s, "", files)
	if err != nil {
		return nil, err
	}
	branches, err := r.countIn(ctx, s, branching, files)
	if err != nil {
		return nil, err
	}
	imports, err := r.countIn(ctx, s, importing, files)
	if err != nil {
		return nil, err
	}
	listed := r.runCommand(ctx, s, "git ls-files --cached --others --exclude-standard 2>/dev/null || find . -type f")
	tests := testedBy(strings.Split(listed.Text, "\n"))
	var all, missing, risks []any
	for _, f := range files {
		n, there := lines[f]
		if !there { // removed, or no text
			missing = append(missing, f)
			continue
		}
		tested := isTest(f) || tests[fileStem(f)]
		all = append(all, map[string]any{"file": f, "lines": n, "branches": branches[f], "imports": imports[f], "tested": tested})
		for _, why := range []struct {
			risky bool
			text  string
		}{
			{n >= manyLines, fmt.Sprintf("%d lines", n)},
			{branches[f] >= manyBranches, fmt.Sprintf("%d branches", branches[f])},
			{isCode(f) && !tested, "no test beside it"},
		} {
			if why.risky {
				risks = append(risks, f+": "+why.text)
			}
		}
	}
	out["files"], out["file_count"], out["missing"], out["risk_areas"] = listOf(all), len(all), listOf(missing), listOf(risks)
	return out, nil
}

// listOf is a list that is empty rather than none, as templates want it.
func listOf(l []any) []any {
	if l == nil {
		return []any{}
	}
	return l
}

// namesIn are the names of files in a value: a list, or one.
func namesIn(v any) ([]string, error) {
	var out []string
	switch v := v.(type) {
	case nil:
		return nil, errors.New("a list of names is wanted")
	case string:
		out = strings.Fields(v)
	case []any:
		for _, x := range v {
			if m, ok := x.(map[string]any); ok {
				x = m["file"]
			}
			if name := asText(x); name != "" {
				out = append(out, name)
			}
		}
	default:
		return nil, errors.New("a list of names is wanted")
	}
	if len(out) > maxFiles {
		out = out[:maxFiles]
	}
	return out, nil
}

// countIn counts the lines of each file that a pattern is in; all lines for none. What is not there
// has no count.
func (r *Run) countIn(ctx context.Context, s *stepRun, pattern string, files []string) (map[string]int, error) {
	command := "grep -IHcE -e " + shellWord(pattern) + " --"
	for _, f := range files {
		if strings.HasPrefix(f, "-") {
			f = "./" + f
		}
		command += " " + shellWord(f)
	}
	out := r.runCommand(ctx, s, command+" 2>/dev/null; true")
	if out.Failed {
		return nil, out.asError()
	}
	counts := map[string]int{}
	for row := range strings.Lines(out.Text) {
		row = strings.TrimRight(row, "\n")
		at := strings.LastIndexByte(row, ':')
		if n, err := strconv.Atoi(row[at+1:]); err == nil && at > 0 {
			counts[strings.TrimPrefix(row[:at], "./")] = n
			counts[row[:at]] = n
		}
	}
	return counts, nil
}

var testName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(test_.+|.+[._-](test|tests|spec)|.+Tests?)$`)
})

var codeEndings = strings.Fields(".c .cc .cpp .cs .go .java .js .jsx .kt .php .py .rb .rs .scala .swift .ts .tsx")

func isCode(file string) bool { return slices.Contains(codeEndings, path.Ext(file)) }

func bare(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

func isTest(file string) bool { return isCode(file) && testName().MatchString(bare(file)) }

// fileStem is the name of a file without its ending, in lower case.
func fileStem(file string) string { return strings.ToLower(bare(file)) }

// testedBy are the stems that a test is named for.
func testedBy(files []string) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		if f = strings.TrimSpace(f); !isTest(f) {
			continue
		}
		name := fileStem(f)
		name = strings.TrimPrefix(name, "test_")
		for _, end := range []string{"tests", "test", "spec"} {
			if cut, ok := strings.CutSuffix(name, end); ok {
				name = strings.TrimRight(cut, "._-")
				break
			}
		}
		out[name] = true
	}
	return out
}
