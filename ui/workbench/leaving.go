package workbench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hermes/core"
	"hermes/core/event"
	"hermes/ui/progress"
	"hermes/ui/text"
)

// farewellText says how to come back to the sessions that were worked in, what they cost and what
// is held for them.
func (w *workbench) farewellText(ctx context.Context) string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, uid := range app.OpenSessions() {
		info, err := app.Sessions.Get(ctx, uid)
		if err != nil || info.Messages == 0 { // there is nothing to come back to
			continue
		}
		fmt.Fprintf(&b, "hermes --resume %s  %s\n", uid, text.Sanitize(describeSession(info)))
		for _, line := range heldFor(app, uid) {
			fmt.Fprintf(&b, "    %s\n", text.Sanitize(line))
		}
	}
	return b.String()
}

func describeSession(info event.SessionInfo) string {
	facts := []string{info.Title, text.Thousands(info.Usage.Input+info.Usage.Output) + " tokens"}
	if info.Title == "" {
		facts[0] = "(no title)"
	}
	if info.Usage.CostKnown && info.Usage.Cost > 0 {
		facts = append(facts, fmt.Sprintf("$%.4f", float64(info.Usage.Cost)/1e6))
	}
	return strings.Join(facts, ", ")
}

// heldFor is what outlives the program for a session, and what ends with it.
func heldFor(app *core.App, uid string) (lines []string) {
	keep := app.Config().Terminal.Keep
	var kept []string
	for _, b := range app.Pool.List(uid) {
		if b.Traits.Removable && (b.State == event.BackendReady || b.State == event.BackendStopped) {
			kept = append(kept, b.Name)
		}
	}
	if len(kept) > 0 && keep > 0 {
		lines = append(lines, fmt.Sprintf("kept for it, stopped, for %s: %s", progress.Duration(keep.Round(time.Second)), strings.Join(kept, ", ")))
	}
	for _, p := range app.Pool.Processes(uid) {
		if p.Running {
			lines = append(lines, "ended with hermes: "+p.ID+" "+p.Command)
		}
	}
	return lines
}
