package config

// Memory is what the agent keeps from one session to the next. The keys are those of the Python program.
type Memory struct {
	Enabled       bool   `key:"memory_enabled" also:"enabled" short:"yes" strict:"false" doc:"give the agent its notes (memories/MEMORY.md) and the memory tool"`
	UserProfile   bool   `key:"user_profile_enabled" strict:"false" doc:"give the agent what it knows of you (memories/USER.md)"`
	WriteApproval bool   `key:"write_approval" strict:"true" live:"yes" doc:"ask before anything is remembered, with the exact change"`
	CharLimit     int    `key:"memory_char_limit" min:"100" max:"100000" live:"yes" doc:"most characters of MEMORY.md; all of them are sent with every message"`
	UserCharLimit int    `key:"user_char_limit" min:"100" max:"100000" live:"yes" doc:"most characters of USER.md"`
	Recall        bool   `key:"recall_enabled" live:"yes" doc:"give the agent long-term memory (memories/recall.db): memory_store and memory_recall"`
	Namespace     string `key:"namespace" doc:"keeps the long-term memory of this profile apart from others in the same file"`
	RetentionDays int    `key:"retention_days" min:"0" doc:"days after which what is in long-term memory and was not used goes, after an export; 0 keeps it"`
	RecencyHours  int    `key:"recency_hours" min:"1" doc:"time scale of recall: after so many hours the age counts 0.37"`
	NudgeInterval int    `key:"nudge_interval" min:"0" later:"yes" doc:"turns after which the agent is asked whether something is worth remembering"`
	Provider      string `key:"provider" later:"yes" doc:"a memory service beside the files"`
}

func defaultMemory() Memory {
	return Memory{Enabled: true, UserProfile: true, Recall: true, RecencyHours: 168, CharLimit: 2200, UserCharLimit: 1375, NudgeInterval: 10}
}
