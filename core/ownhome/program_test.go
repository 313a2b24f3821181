package ownhome

import "testing"

// What the program keeps for itself is given to no skill.
func TestProgramKeepsItsOwnFiles(t *testing.T) {
	for _, rel := range []string{
		"config.yaml", ".env", "profiles/work/.env", "mcp-tokens/serve.token", "mcp-tokens/github.json", "MCP-Tokens/x", "models.yaml",
		"skill_grants.json", "mcp_pins.json", "hook_trust.json", "plugin-data/x/key", "pool/leases", "auth.json", "hermes.db", "SOUL.md",
	} {
		if !Program(rel) {
			t.Errorf("%s could be given to a skill", rel)
		}
	}
	for _, rel := range []string{"google_token.json", "credentials/aws.json"} {
		if Program(rel) {
			t.Errorf("%s cannot be given to a skill", rel)
		}
	}
}
