package sessions

import (
	"bytes"
	"strings"
	"testing"

	"hermes/core/session"
	"hermes/ui/cli/base"
)

func TestASessionShowsWhatWasSetForIt(t *testing.T) {
	level := 0
	var out bytes.Buffer
	c := &command{&base.Command{Streams: base.Streams{Out: &out}}}
	err := c.printSession(shownSession{Config: session.Config{Toolsets: []string{"file", "web"}, Policy: session.Policy{Level: &level}}})
	if err != nil || !strings.Contains(out.String(), "read\n") || !strings.Contains(out.String(), "file, web\n") {
		t.Errorf("%v\n%s", err, &out)
	}
}
