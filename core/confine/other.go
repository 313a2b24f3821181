//go:build !linux

package confine

import "errors"

var errOther = errors.New("sandboxes need Linux")

// Probe returns why a sandbox is not to be had here.
func Probe(Mode) error { return errOther }

// Stamp tells when the rules of a policy have to be made anew.
func (p Policy) Stamp() string { return "" }

// Enter is an error here.
func (p Policy) Enter() error { return errOther }

// OnThread runs f.
func OnThread(f func()) { f() }
