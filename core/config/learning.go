package config

import "time"

// Learning bounds what the program makes of experience.
type Learning struct {
	Mode       string        `key:"mode" oneof:"off|propose|auto" bools:"propose,off" strict:"off" live:"yes" doc:"what is learned from turns: nothing; proposals that wait for your word; or changes of skills that the agent wrote, unasked and taken back when they do worse"`
	Calls      int           `key:"min_calls" min:"1" live:"yes" doc:"tool calls that make a turn worth keeping when nothing says whether it went well"`
	Alike      int           `key:"min_alike" min:"1" live:"yes" doc:"turns of one kind from which a new skill is proposed"`
	Every      time.Duration `key:"interval" min:"0" live:"yes" doc:"at most one look at experiences by a model in this time"`
	MaxOpen    int           `key:"max_open" min:"1" live:"yes" doc:"proposals that may wait for your word"`
	MaxReviews int           `key:"max_reviews_per_day" min:"0" live:"yes" doc:"looks at experiences a day"`
	MaxCost    float64       `key:"max_cost_per_day" min:"0" live:"yes" doc:"US dollars that they may cost a day; 0: no limit"`
	MaxShare   float64       `key:"max_share_of_cost" min:"0" max:"1" live:"yes" doc:"share of what is spent in a day that they may cost; 0: no limit"`
	AfterRun   time.Duration `key:"after_run" min:"0" live:"yes" doc:"how long hermes run may go on after its answer, in mode auto, to look at what there is to learn; 0: it does not"`
	StaleDays  int           `key:"stale_days" min:"0" live:"yes" doc:"days without use after which a skill that the agent wrote is called stale; 0: never"`
	ArchDays   int           `key:"archive_days" min:"0" live:"yes" doc:"days without use after which it is moved away; nothing is deleted; 0: never"`
	Pinned     []string      `key:"pinned" live:"yes" doc:"names of skills that are never changed, taken back or moved away unasked"`
}

func defaultLearning() Learning {
	return Learning{
		Mode: "propose", Calls: 5, Alike: 3, Every: 10 * time.Minute, MaxOpen: 3, MaxReviews: 20, MaxCost: 0.10, MaxShare: 0.05, AfterRun: 30 * time.Second, StaleDays: 30, ArchDays: 90,
	}
}
