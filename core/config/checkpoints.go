package config

// Checkpoints keeps files as they were before the agent changed them. The keys are those of the
// Python program.
type Checkpoints struct {
	Enabled      bool `key:"enabled" short:"yes" strict:"true" doc:"keep files as they were before each turn, for hermes rollback"`
	MaxSnapshots int  `key:"max_snapshots" min:"1" doc:"turns of a session that can be taken back"`
	MaxFileSize  int  `key:"max_file_size_mb" min:"1" max:"512" doc:"megabytes of the largest file that is kept"`
	MaxTotalSize int  `key:"max_total_size_mb" min:"10" doc:"megabytes of all that is kept; the oldest goes first"`
	Retention    int  `key:"retention_days" min:"1" doc:"days after which a turn cannot be taken back any more"`
	MaxFiles     int  `key:"max_files" min:"100" doc:"files of a project that are looked at before a command; a larger project is not kept for commands"`
}

func defaultCheckpoints() Checkpoints {
	return Checkpoints{Enabled: true, MaxSnapshots: 100, MaxFileSize: 10, MaxTotalSize: 500, Retention: 14, MaxFiles: 20_000}
}
