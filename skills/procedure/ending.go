package procedure

import (
	"context"
	"strings"
)

// renderOutput is what the run gives back.
func (r *Run) renderOutput() (string, error) {
	sc := r.currentScope()
	if t := r.p.Output.Template; t != nil {
		return t.renderText(sc)
	}
	for i := len(r.p.Steps) - 1; i >= 0; i-- {
		if v := sc.vars[r.p.Steps[i].Output]; v != nil {
			return asText(v), nil
		}
	}
	return "", nil
}

// finishRun stores and tells what the file asks for at an end.
func (r *Run) finishRun(ctx context.Context, e Ending, text string) {
	if _, ok := r.host.Tool(toolStore); ok && e.Store && text != "" {
		out := r.callTool(ctx, nil, toolStore, map[string]any{"key": "result of " + r.p.Name, "value": string([]rune(text)[:min(len([]rune(text)), 4000)])})
		if out.Failed {
			r.addWarning("the result was not stored: " + out.Text)
		}
	}
	if e.Notify == nil {
		return
	}
	sc := r.currentScope()
	if c := e.Notify.Condition; c != nil {
		if ok, err := c.isTrue(sc); err != nil || !ok {
			return
		}
	}
	message, err := e.Notify.Message.renderText(sc)
	if err != nil {
		message = err.Error()
	}
	where := ""
	if e.Notify.Platform != "" {
		where = " (for " + e.Notify.Platform + ", which is not connected: it is said here)"
	}
	r.host.Say("notice" + where + ": " + message)
	r.addWarning("notice" + where + ": " + strings.TrimSpace(message))
}
