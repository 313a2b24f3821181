// Package runner runs commands on the machine it is on and says what happens to them. It is the
// same code for every kind of back end: linked into Hermes it is the `local` kind; built as a
// static program (runner/program, which runner/embedded holds and runner/wire talks to) it is what
// a container or a far host runs.
//
// The contract:
//
//   - A command is the text of a shell script or an argument vector. It gets a session and process
//     group of its own.
//   - Standard output and standard error are two pipes of that one call (or one terminal, or one
//     pipe: see Spec.Merge). What arrives after the call ended, from a child left in the
//     background, belongs to nobody: it is read, counted and dropped, so the child gets no SIGPIPE
//     and no later call ever shows it. A call ends with its shell, not with whoever still holds its
//     pipes.
//   - Memory is flat whatever a command prints: head and tail are kept, the whole goes to a file
//     when asked. A slow Sink never stalls the command.
//   - A timeout (124) and a cancelled context (130) end the whole tree: TERM, a grace, KILL, then a
//     sweep for what left the group. A command that ran is a Result; an error means that it did not
//     run or that its fate is unknown, and says which.
//   - Bytes are bytes: NUL and invalid UTF-8 pass unchanged. Bookkeeping never travels in the
//     command's output.
//   - Close ends everything that the Runner started and still runs.
//   - The death of the process, however it dies, ends the same within two seconds: see lease and
//     keeper.sh. From the first command to Close there is one small shell that waits for that death
//     and does nothing else. Linux finds what a command started by group, session and tag;
//     elsewhere, and where there is no grep, only by what of that can be had. Without /bin/sh
//     commands run, with one warning.
//
// Run and Start keep output here. Attach gives it to whoever carries it elsewhere, and an Intake
// keeps it there by the same rules.
//
// It depends on the standard library, golang.org/x/sys, creack/pty and core/crash only, and builds
// with CGO off for Linux and macOS.
package runner
