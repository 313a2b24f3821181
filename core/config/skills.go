package config

// Skills is how the agent knows how things are done. The keys are those of the Python program,
// which does not ask before a skill is written: here write_approval is on, because a skill steers
// every later session.
type Skills struct {
	ExternalDirs  []string `key:"external_dirs" strict:"" live:"yes" doc:"more folders with skills, in this order; ~ is the home folder"`
	Disabled      []string `key:"disabled" refuses:"skills" live:"yes" doc:"names of skills that are neither offered nor used"`
	Project       bool     `key:"project" strict:"false" live:"yes" doc:"read .hermes/skills and .agents/skills of projects that you trust"`
	WriteApproval bool     `key:"write_approval" strict:"true" live:"yes" doc:"ask before the agent writes a skill, with the exact change; no: only when the turn has read what strangers wrote, and for scripts"`
}

func defaultSkills() Skills { return Skills{Project: true, WriteApproval: true} }
