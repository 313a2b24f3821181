package config

import "time"

// Memory is what the agent keeps from one session to the next. The keys are those of the Python
// program.
type Memory struct {
	Enabled       bool      `key:"memory_enabled" also:"enabled" short:"yes" strict:"false" doc:"give the agent its notes (memories/MEMORY.md) and the memory tool"`
	UserProfile   bool      `key:"user_profile_enabled" strict:"false" doc:"give the agent what it knows of you (memories/USER.md)"`
	WriteApproval bool      `key:"write_approval" strict:"true" live:"yes" doc:"ask before anything is remembered, with the exact change"`
	CharLimit     int       `key:"memory_char_limit" min:"100" max:"100000" live:"yes" doc:"most characters of MEMORY.md; all of them are sent with every message"`
	UserCharLimit int       `key:"user_char_limit" min:"100" max:"100000" live:"yes" doc:"most characters of USER.md"`
	Recall        bool      `key:"recall_enabled" live:"yes" doc:"give the agent long-term memory (memories/recall.db): memory_store and memory_recall"`
	Unasked       bool      `key:"recall_unasked" live:"yes" doc:"put the one fact of long-term memory that answers most of a message beside it, where it is seen"`
	Namespace     string    `key:"namespace" doc:"keeps the long-term memory of this profile apart from others in the same file"`
	RetentionDays int       `key:"retention_days" min:"0" doc:"days after which what is in long-term memory and was not used goes, after an export; 0 keeps it"`
	RecencyHours  int       `key:"recency_hours" min:"1" doc:"time scale of recall: after so many hours the age counts 0.37"`
	Embedding     Embedding `key:"embedding"`
	NudgeInterval int       `key:"nudge_interval" min:"0" later:"yes" doc:"turns after which the agent is asked whether something is worth remembering"`
	Provider      string    `key:"provider" later:"yes" doc:"a memory service beside the files"`
}

// Embedding is the model that makes vectors for long-term memory. Without one it is found by words.
type Embedding struct {
	Provider       string        `key:"provider" live:"yes" doc:"name of a provider; empty: as the model says"`
	Model          string        `key:"model" live:"yes" doc:"model for embeddings as provider/model, such as openai/text-embedding-3-small or ollama/nomic-embed-text; what is remembered is sent there. Empty: memory is found by words"`
	API            string        `key:"api" oneof:"auto|openai|ollama" live:"yes" doc:"how its server is asked: POST /embeddings of OpenAI or POST /api/embed of Ollama"`
	Dimensions     int           `key:"dimensions" min:"0" max:"8192" live:"yes" doc:"numbers in a vector that are asked for; 0: as many as the model has"`
	Timeout        time.Duration `key:"timeout" min:"1" live:"yes" doc:"longest time for one request; a question waits 1.5 seconds at most"`
	QueryPrefix    string        `key:"query_prefix" live:"yes" doc:"stands before questions, for models that want it; empty: as the model is known to want"`
	DocumentPrefix string        `key:"document_prefix" live:"yes" doc:"stands before what is remembered"`
}

// Ref is the model as "provider/model"; "" when there is none.
func (e Embedding) Ref() string {
	return AuxiliaryModel{Provider: e.Provider, Model: e.Model}.Ref()
}

func defaultMemory() Memory {
	return Memory{Enabled: true, UserProfile: true, Recall: true, Unasked: true, RecencyHours: 168, Embedding: Embedding{API: "auto", Timeout: 30 * time.Second}, CharLimit: 2200, UserCharLimit: 1375, NudgeInterval: 10}
}
