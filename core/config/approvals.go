package config

import "time"

// Approvals says what is asked before it runs.
type Approvals struct {
	Mode    string        `key:"mode" oneof:"manual|smart|off" live:"yes" doc:"manual: ask before everything but reading; off: never ask; smart: as manual, for now"`
	Timeout time.Duration `key:"timeout" min:"1" live:"yes" doc:"an unanswered question denies itself after this long"`
	Deny    []string      `key:"deny" live:"yes" doc:"commands that never run, in no mode; * stands for any text"`
}
