package childenv

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Conceal empties the secrets in the environment that the kernel shows of this process, in
// /proc/PID/environ: every command that runs as the same user could read it there, whatever its own
// environment leaves out. The program itself keeps its variables: os.Getenv reads a copy. Secrets
// are variables whose names look like one, and addresses with a password in them. Call it once,
// early. What cannot be done is left as it is: this is one wall of several.
func Conceal() {
	start := environStart()
	shown, err := os.ReadFile("/proc/self/environ")
	if err != nil || start == 0 {
		return
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer memory.Close()
	at := int64(0)
	for _, entry := range bytes.SplitAfter(shown, []byte{0}) {
		name, value, _ := strings.Cut(strings.TrimRight(string(entry), "\x00"), "=")
		if value != "" && (LooksSecret(name) || passwordInside(value)) {
			_, _ = memory.WriteAt(make([]byte, len(value)), start+at+int64(len(name))+1)
		}
		at += int64(len(entry))
	}
}

// environStart is where the environment that this process began with lies in its memory, 0 when
// that is not known.
func environStart() int64 {
	const field = 50 - 3 // env_start in proc_pid_stat(5); the first field behind the name is the third
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= field {
		return 0
	}
	start, err := strconv.ParseInt(fields[field], 10, 64)
	if err != nil {
		return 0
	}
	return start
}
