//go:build !race

package mcp

const randomKills = 1000
