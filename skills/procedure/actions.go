package procedure

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hermes/core/clip"
)

// builtin is an action of the program: commands by the ordinary terminal, read into values.
type builtin func(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error)

var builtins = map[string]builtin{
	"git_diff": gitDiff, "parallel_health_check": healthCheck, "analyze_anomalies": analyzeAnomalies, "auto_remediate": autoRemediate,
	"execute_migration": executeMigration, "analyze_files": analyzeFiles, "scan_api_usage": scanAPIUsage, "fetch_changelog": fetchChangelog,
	"generate_report": generateReport,
}

// builtin is the action of the program that a step is, nil for none. A step that says what a model
// should answer is asked of a model.
func (s *Step) builtin() builtin {
	if s.Prompt != nil || s.Schema != nil {
		return nil
	}
	return builtins[s.Action]
}

// shellWord quotes a value for a command.
func shellWord(v any) string {
	w, err := (&quoting{}).quoteValue(asText(v))
	if err != nil {
		return "''"
	}
	return w
}

// gitDiff says what changed since a branch or commit: the files, how much, and the diff.
func gitDiff(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	target := asText(args["target"])
	if target == "" {
		target = "HEAD"
	}
	if strings.HasPrefix(target, "-") {
		return nil, fmt.Errorf("%q is no branch or commit", clip.Runes(target, 60, "…"))
	}
	counted := r.runCommand(ctx, s, "git diff --numstat "+shellWord(target)+" --")
	if counted.Failed {
		return nil, counted.asError()
	}
	files, added, removed := []any{}, 0, 0
	for row := range strings.Lines(counted.Text) {
		f := strings.SplitN(strings.TrimSpace(row), "\t", 3)
		if len(f) != 3 {
			continue
		}
		a, _ := strconv.Atoi(f[0]) // "-" of binary files counts nothing
		d, _ := strconv.Atoi(f[1])
		files, added, removed = append(files, f[2]), added+a, removed+d
	}
	text := r.runCommand(ctx, s, "git diff "+shellWord(target)+" -- | head -c 40000")
	return map[string]any{
		"changed_files": files, "file_count": len(files), "additions": added, "deletions": removed, "diff": text.Text,
	}, nil
}

var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._:-]+$`) })

const maxEndpoints = 50

// healthCheck asks many endpoints at once whether they answer.
func healthCheck(ctx context.Context, r *Run, s *stepRun, args map[string]any) (any, error) {
	list, ok := args["endpoints"].([]any)
	if !ok || len(list) == 0 || len(list) > maxEndpoints {
		return nil, fmt.Errorf("endpoints: a list of 1 to %d is wanted", maxEndpoints)
	}
	results := make([]any, len(list))
	err := r.runBeside(len(list), func(i int) error {
		e, _ := list[i].(map[string]any)
		results[i] = r.checkEndpoint(ctx, s, e)
		return nil
	})
	failed := 0
	for _, x := range results {
		if m, ok := x.(map[string]any); ok && m["ok"] != true {
			failed++
		}
	}
	return map[string]any{"endpoints": results, "failed": failed, "ok": failed == 0}, err
}

func (r *Run) checkEndpoint(ctx context.Context, s *stepRun, e map[string]any) map[string]any {
	limit := 10
	if n, err := strconv.Atoi(asText(e["timeout"])); err == nil && n > 0 && n <= 120 {
		limit = n
	}
	out := map[string]any{"name": e["name"], "ok": false}
	if asText(e["type"]) == "tcp" {
		host, port := asText(e["host"]), asText(e["port"])
		if _, err := strconv.ParseUint(port, 10, 16); err != nil || !hostName().MatchString(host) {
			out["message"] = "no host and port"
			return out
		}
		res := r.runCommand(ctx, s, fmt.Sprintf("timeout %d bash -c 'exec 3<>/dev/tcp/%s/%s'", limit, host, port))
		out["ok"], out["message"] = !res.Failed, clip.Runes(strings.TrimSpace(res.Text), 60, "…")
		return out
	}
	method := strings.ToUpper(asText(e["method"]))
	if method == "" {
		method = "GET"
	}
	res := r.runCommand(ctx, s, fmt.Sprintf(`curl -sS -X %s -m %d -w '\n%%{http_code} %%{time_total}' -- %s`, shellWord(method), limit, shellWord(e["url"])))
	text := strings.TrimSpace(res.Text)
	at := strings.LastIndexByte(text, '\n') + 1 // 0: the answer has no body
	body, last := text[:at], text[at:]
	var code int
	var took float64
	if _, err := fmt.Sscanf(strings.TrimSpace(last), "%d %f", &code, &took); err != nil || res.Failed {
		out["message"] = clip.Runes(strings.TrimSpace(res.Text), 60, "…")
		return out
	}
	out["status"], out["response_time_ms"] = code, int(took*1000)
	want, _ := e["expected"].(map[string]any)
	switch {
	case want["status"] != nil && asText(want["status"]) != strconv.Itoa(code):
		out["message"] = fmt.Sprintf("status %d in place of %s", code, asText(want["status"]))
	case want["body_contains"] != nil && !strings.Contains(body, asText(want["body_contains"])):
		out["message"] = "the answer does not hold " + clip.Runes(asText(want["body_contains"]), 60, "…")
	case want["response_time_ms"] != nil && tooSlow(want["response_time_ms"], took):
		out["message"] = fmt.Sprintf("%d ms, at most %s are wanted", int(took*1000), asText(want["response_time_ms"]))
	default:
		out["ok"] = code < 400 || want["status"] != nil
	}
	return out
}

func tooSlow(limit any, took float64) bool {
	ms, err := strconv.ParseFloat(asText(limit), 64)
	return err == nil && took*1000 > ms
}
