// Package execcode runs Python scripts that call the agent's tools.
//
// The contract:
//
//   - A script is a child process of its own session, in its own temporary folder or the session's,
//     with an environment that holds no secret (core/childenv). How far it is kept in depends on
//     the kernel: see Isolation. What holds is probed once and told in every result, never assumed.
//   - Everything that a script started ends with it: by its process namespace where there is one,
//     else by a sweep.
//   - Calls come over a socket that the script inherits as descriptor 3: there is no name in the
//     file system to attack. They carry ids, so threads of a script call truly in parallel. Each
//     goes to Script.Call, and that is the agent's gate.
//   - The clock of a script stands still while a person is asked for an approval.
//   - Run always returns a Result, within the timeout and a few seconds. What was printed until
//     then is in it.
//   - A kernel is a script's process that stays: its variables are there for the next script of the
//     same session.
//
// Only what a script prints reaches a model. The limits are Limits; all of them hold for hostile
// scripts too.
package execcode
