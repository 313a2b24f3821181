// Command hermes is a full-screen terminal workbench for an AI agent. Package ui/program puts it
// together.
package main

import (
	"os"

	"hermes/ui/program"
)

// version is set by the Makefile.
var version string

func main() { os.Exit(program.Main(version)) }
