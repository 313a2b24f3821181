//go:build !linux

package confine

import (
	"errors"
	"os"
)

var errOther = errors.New("sandboxes need Linux")

// Probe returns why a sandbox is not to be had here.
func Probe(Engine) error { return errOther }

// Stamp tells when the rules of a policy have to be made anew.
func (p Policy) Stamp() string { return "" }

// Enter is an error here.
func (p Policy) Enter() (*Guard, error) { return nil, errOther }

// Guard keeps attributes of files as they are; there is none here.
type Guard struct{}

// Close does nothing here.
func (g *Guard) Close() {}

// Over is true here.
func (g *Guard) Over() bool { return true }

// Wrapped is a command that bubblewrap starts.
type Wrapped struct {
	Path string
	Argv []string
}

// Wrap is an error here.
func (p Policy) Wrap(Command) (Wrapped, *os.File, error) { return Wrapped{}, nil, errOther }

// OnThread runs f.
func OnThread(f func()) { f() }
