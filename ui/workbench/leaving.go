package workbench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"hermes/core"
	"hermes/core/backend"
	"hermes/core/config"
	"hermes/core/event"
	"hermes/ui/progress"
	"hermes/ui/text"
)

// askEngines is how long leaving waits for what is kept by processes before this one.
const askEngines = time.Second

// farewellText says how to come back to the sessions that were worked in, what they cost and what
// is held for them.
func (w *workbench) farewellText(ctx context.Context) string {
	app, ok := w.boot.appIfReady()
	if !ok {
		return ""
	}
	ask, cancel := context.WithTimeout(ctx, askEngines)
	defer cancel()
	left, _ := app.Pool.Leftovers(ask) // what an engine does not say in time is kept all the same
	var b strings.Builder
	again := againCommand(app.Config().Paths(), w.options.Core.Reload)
	for _, uid := range app.OpenSessions() {
		info, err := app.Sessions.Get(ctx, uid)
		if err != nil || info.Messages == 0 { // there is nothing to come back to
			continue
		}
		fmt.Fprintf(&b, "%s --resume %s  %s\n", again, uid, text.Sanitize(describeSession(info)))
		for _, line := range heldFor(app, uid, left) {
			fmt.Fprintf(&b, "    %s\n", text.Sanitize(line))
		}
	}
	return b.String()
}

// againCommand starts hermes where this run kept things, which need not be where the next one does.
func againCommand(here config.Paths, o *config.Options) string {
	command := "hermes"
	if o == nil {
		return command
	}
	if next, err := (config.Options{Env: o.Env}).Paths(); err != nil || next.Root != here.Root {
		home, err := syntax.Quote(here.Root, syntax.LangPOSIX)
		if err != nil {
			home = here.Root
		}
		command += " --home " + home
	}
	if next, err := (config.Options{Home: here.Root, Env: o.Env}).Paths(); err != nil || next.Profile != here.Profile {
		command += " --profile " + cmp.Or(here.Profile, config.DefaultProfile)
	}
	return command
}

func describeSession(info event.SessionInfo) string {
	facts := []string{cmp.Or(info.Title, "(no title)")}
	if n := info.Usage.Input + info.Usage.Output; n > 0 { // else no model was asked, or its server does not count
		facts = append(facts, text.Thousands(n)+" tokens")
	}
	if info.Usage.CostKnown && info.Usage.Cost > 0 {
		facts = append(facts, fmt.Sprintf("$%.4f", float64(info.Usage.Cost)/1e6))
	}
	return strings.Join(facts, ", ")
}

// heldFor is what outlives the program for a session, and what ends with it.
func heldFor(app *core.App, uid string, left []backend.Leftover) (lines []string) {
	keep := app.Config().Terminal.Keep
	var kept []string
	for _, b := range app.Pool.List(uid) {
		if b.Traits.Removable && (b.State == event.BackendReady || b.State == event.BackendStopped) {
			kept = append(kept, b.Name)
		}
	}
	for _, l := range left {
		if l.Session == uid && (l.Kept || l.Live) && !slices.Contains(kept, l.Backend) {
			kept = append(kept, l.Backend)
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
