package doctor

import (
	"context"
	"strings"

	"hermes/core/memory"
	"hermes/ui/cli/base"
)

func (x *examination) checkMemory(context.Context) {
	s := base.OpenMemory(x.start.Config)
	problems := s.Problems()
	for _, p := range problems {
		x.addFinding("memory", warn, "`hermes memory` shows both files, `hermes memory edit` mends them", "%s", p)
	}
	if problems != nil {
		return
	}
	var parts []string
	for _, t := range memory.Targets() {
		if d, err := s.Load(t); err == nil {
			parts = append(parts, t.File()+" "+d.Usage())
		}
	}
	x.addFinding("memory", good, "", "%s", strings.Join(parts, "; "))
}
