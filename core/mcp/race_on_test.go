//go:build race

package mcp

// randomKills are fewer under the race detector: .ci/compute has the thousand.
const randomKills = 200
