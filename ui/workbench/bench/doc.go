// Package bench measures the program against floors: what the same machine needs, in the same run,
// for the least that could do the job (an empty bubbletea program, one SQL statement, one os/exec).
// Both sides take turns and their medians are compared, so that the ratios hold on a noisy, shared
// machine where times do not.
//
// It holds benchmarks only, no tests: `make bench` runs them, prints one table and fails when a
// budget is missed. docs/performance.md says what the budgets are and why.
package bench
