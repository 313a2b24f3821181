package ui

import "hermes/ui/quiet"

// bubbletea's own init is over by now: see package quiet.
func init() { quiet.Restore() }
