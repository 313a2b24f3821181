package config

import "time"

// Approvals says what is asked before it runs.
type Approvals struct {
	Mode     string        `key:"mode" strict:"manual" oneof:"manual|smart|off|plan" live:"yes" doc:"manual: you are asked about what is above the level; smart: the model decides about what can be undone, you about the rest; off: never ask; plan: only what reads runs"`
	Level    int           `key:"level" strict:"0" min:"0" max:"3" live:"yes" doc:"what runs unasked: 0 reads; 1 makes new files; 2 works on the project (edit, build, test, local git, containers, fetch); 3 deletes, publishes, installs too"`
	Timeout  time.Duration `key:"timeout" strict:"30" min:"1" live:"yes" doc:"an unanswered question denies itself after this long"`
	Remember time.Duration `key:"remember" strict:"1" min:"0" live:"yes" doc:"how long an answer for more than one session counts; 0: until it is revoked"`
	Deny     []string      `key:"deny" refuses:"commands" live:"yes" doc:"commands that never run, in no mode; * stands for any text"`
}
