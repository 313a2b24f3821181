package doctor

import (
	"context"

	"hermes/core/event"
)

// checkBackends looks at where commands run.
func (x *examination) checkBackends(ctx context.Context) {
	def, places := x.start.Config.Places()
	x.addFinding("back ends", good, "", "%d, of which %s is the default (%s)", len(places), def, places[def].Kind)
	if x.c.Program.Examine == nil {
		return
	}
	verdicts := map[event.Level]verdict{event.Info: good, event.Warn: warn, event.Error: bad}
	for _, f := range x.c.Program.Examine(ctx, x.start.Config) {
		x.addFinding(f.Subject, verdicts[f.Level], f.Fix, "%s", f.Text)
	}
}
