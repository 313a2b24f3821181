package config

import "time"

// CodeExecution bounds the scripts of execute_code.
type CodeExecution struct {
	Mode         string        `key:"mode" strict:"strict" oneof:"project|strict" live:"yes" doc:"project: in the session's folder, by the project's Python, with network; strict: in an empty folder, without network"`
	Timeout      time.Duration `key:"timeout" refuses:"scripts" min:"1" live:"yes" doc:"longest run of a script; waiting for an approval does not count"`
	MaxToolCalls int           `key:"max_tool_calls" refuses:"scripts" min:"1" live:"yes" doc:"tools that one script may call"`
	MaxStdout    int           `key:"max_stdout_bytes" min:"1000" live:"yes" doc:"bytes of a script's output that reach the model"`
	MaxStderr    int           `key:"max_stderr_bytes" min:"500" live:"yes" doc:"bytes of its error output, the last ones"`
	MemoryMB     int           `key:"memory_mb" refuses:"scripts" min:"0" null:"0" live:"yes" doc:"megabytes of data of one process of a script; 0: no limit"`
	MaxProcesses int           `key:"max_processes" refuses:"scripts" min:"16" live:"yes" doc:"processes and threads of a script"`
	MaxKernels   int           `key:"max_kernels" strict:"1" min:"1" max:"32" live:"yes" doc:"scripts' interpreters that are kept for session=true"`
	KernelIdle   time.Duration `key:"kernel_idle" also:"kernel_idle_timeout" min:"1" live:"yes" doc:"a kept interpreter ends after this long without a script"`
	Python       string        `key:"python" live:"yes" doc:"interpreter for scripts; empty: the project's, else python3 of PATH"`
}

func defaultCodeExecution() CodeExecution {
	return CodeExecution{
		Mode: "project", Timeout: 300 * time.Second, MaxToolCalls: 50, MaxStdout: 50_000, MaxStderr: 10_000,
		MemoryMB: 4096, MaxProcesses: 512, MaxKernels: 4, KernelIdle: 30 * time.Minute,
	}
}
