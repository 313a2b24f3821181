package ownhome

import "testing"

func TestSecretsOfADataFolder(t *testing.T) {
	homes := Homes("/opt/h/profiles/work", "/home/dev")
	for p, want := range map[string]struct{ in, secret, holds bool }{
		"/opt/h/.env":                                    {true, true, false},
		"/opt/h/profiles/work/config.yaml":               {true, true, false},
		"/opt/h/profiles/other/.env":                     {true, true, false},
		"/opt/h/profiles/other":                          {true, false, true},
		"/opt/h/profiles":                                {true, false, true},
		"/opt/h":                                         {true, false, true},
		"/home/dev/.hermes/workbench.db":                 {true, true, false},
		"/home/dev/.hermes/workbench.db-wal":             {true, true, false},
		"/home/dev/.hermes/approvals.json":               {true, true, false},
		"/home/dev/.hermes/.approvals-12":                {true, true, false},
		"/home/dev/.hermes/logs":                         {true, false, true},
		"/home/dev/.hermes/logs/audit/2026-01.jsonl":     {true, true, false},
		"/home/dev/.hermes/logs/workbench.log":           {true, false, false},
		"/home/dev/.hermes/checkpoints/workbench/blobs":  {true, true, false},
		"/home/dev/.hermes/profiles/a/profiles/b/.env":   {true, true, false},
		"/home/dev/.hermes/skills/tidy/SKILL.md":         {true, false, false},
		"/home/dev/.hermes/skills/tidy/.env":             {true, true, false},
		"/home/dev/.hermes/profiles/a/memories/USER.md":  {true, false, false},
		"/home/dev/.hermes/profiles/a/skills":            {true, false, false},
		"/root/.hermes/auth.json":                        {true, true, false},
		"/srv/x/.hermes/config.yaml":                     {true, true, false},
		"/home/dev/.hermes/skillset":                     {true, true, false},
		"/home/dev/proj/hermes/config.yaml":              {},
		"/home/dev/.hermes2/config.yaml":                 {},
		"/opt/h2/.env":                                   {},
		"/home/dev/.hermes/cache/spill/output-1.txt":     {true, false, false},
		"/home/dev/.hermes/SOUL.md":                      {true, false, false},
		"/home/dev/.hermes/workbench_history.jsonl":      {true, true, false},
		"/home/dev/.hermes/profiles/a/logs/audit":        {true, true, false},
		"/home/dev/.hermes/hermes-agent/tools/config.py": {true, false, false},
	} {
		rel, in := Below(p, homes)
		if in != want.in {
			t.Errorf("%s: in a data folder: %v", p, in)
			continue
		}
		if in && (Secret(rel) != want.secret || Holds(rel) != want.holds) {
			t.Errorf("%s: secret %v, holds %v", p, Secret(rel), Holds(rel))
		}
	}
}
