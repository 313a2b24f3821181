package procedure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hermes/core/clip"
)

// severities in the order of a report; what is not among them comes last.
var severities = strings.Fields("critical blocker high error major medium warning minor low info none")

const (
	maxReport = 40_000 // bytes
	maxRows   = 200
	maxNested = 4
)

// generateReport writes what earlier steps found as Markdown, a section a value.
func generateReport(_ context.Context, _ *Run, _ *stepRun, args map[string]any) (any, error) {
	if f := asText(args["format"]); f != "" && f != "markdown" && f != "text" {
		return nil, fmt.Errorf("format: %q is not known; markdown is", clip.Runes(f, 60, "…"))
	}
	settings := []string{"format", "severity_order"}
	w := reportWriter{ordered: args["severity_order"] == true}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(settings, name) {
			fmt.Fprintf(&w, "## %s\n\n", title(name))
			w.writeValue(args[name], 0)
			w.WriteString("\n")
		}
	}
	text := strings.TrimSpace(w.String())
	if len(text) > maxReport {
		text = strings.ToValidUTF8(text[:maxReport], "") + "\n\n(cut: the report is too long)"
	}
	return map[string]any{"text": text, "format": "markdown"}, nil
}

type reportWriter struct {
	strings.Builder
	ordered bool // lists come by severity
}

func title(name string) string {
	name = strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]
}

// oneLine keeps a value from making lines or cells of its own.
func oneLine(v any) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(asText(v)), " "), "|", `\|`)
}

func (w *reportWriter) writeValue(v any, depth int) {
	switch v := v.(type) {
	case nil:
		w.WriteString("Nothing.\n")
	case map[string]any:
		w.fields(v, depth)
	case []any:
		w.writeList(v)
	default:
		w.WriteString(oneLine(v) + "\n")
	}
}

func isSimple(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func (w *reportWriter) fields(m map[string]any, depth int) {
	names := slices.Sorted(maps.Keys(m))
	for _, k := range names {
		if isSimple(m[k]) {
			fmt.Fprintf(w, "- %s: %s\n", title(k), oneLine(m[k]))
		}
	}
	for _, k := range names {
		if isSimple(m[k]) {
			continue
		}
		if depth >= maxNested {
			fmt.Fprintf(w, "- %s: %s\n", title(k), oneLine(m[k]))
			continue
		}
		fmt.Fprintf(w, "\n%s %s\n\n", strings.Repeat("#", 3+min(depth, 3)), title(k))
		w.writeValue(m[k], depth+1)
	}
}

func (w *reportWriter) writeList(l []any) {
	if len(l) == 0 {
		w.WriteString("None.\n")
		return
	}
	if w.ordered {
		l = slices.Clone(l)
		slices.SortStableFunc(l, func(a, b any) int { return cmp.Compare(severityOf(a), severityOf(b)) })
	}
	columns := columnsOf(l)
	if columns == nil {
		for _, x := range l[:min(len(l), maxRows)] {
			w.WriteString("- " + oneLine(x) + "\n")
		}
		return
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, x := range l[:min(len(l), maxRows)] {
		m, _ := x.(map[string]any)
		for _, c := range columns {
			w.WriteString("| " + oneLine(m[c]) + " ")
		}
		w.WriteString("|\n")
	}
}

func severityOf(v any) int {
	m, _ := v.(map[string]any)
	if i := slices.Index(severities, strings.ToLower(asText(m["severity"]))); i >= 0 {
		return i
	}
	return len(severities)
}

// columnsOf are the keys of a list of maps; nil for another list.
func columnsOf(l []any) (keys []string) {
	for _, x := range l {
		m, ok := x.(map[string]any)
		if !ok {
			return nil
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	// What is worst, and where, is read first.
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(columnPlace(a), columnPlace(b)) })
	return keys
}

func columnPlace(key string) int {
	first := []string{"severity", "name", "file", "line", "message"}
	if i := slices.Index(first, key); i >= 0 {
		return i
	}
	return len(first)
}
