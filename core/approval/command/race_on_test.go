//go:build race

package command

// underRace says that the race detector watches: what counts commands by the hundred thousand takes
// a sample then, since nothing of it runs beside anything else.
const underRace = true
