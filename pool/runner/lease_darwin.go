package runner

import "os"

// newTable makes the file of the lease. It has no name, so nothing is left of it.
func newScript() (*os.File, error) { return scriptInTemp() }

func newTable() (*os.File, error) { return scriptFile("") }
