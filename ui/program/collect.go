package program

import (
	"runtime/debug"
	"time"
)

// delayCollection keeps the collector away from a start: what the libraries' tables leave behind as
// garbage is little, and collecting it takes a third of the time until the first frame. The usual
// rule, or that of GOGC, holds again after a second. It returns what ends the wait.
func delayCollection() (stop func()) {
	usual := debug.SetGCPercent(400)
	if usual != 100 { // somebody has said how it is to be
		debug.SetGCPercent(usual)
		return func() {}
	}
	wait := time.AfterFunc(time.Second, func() { debug.SetGCPercent(usual) })
	return func() { wait.Stop() }
}
