// Package pool keeps named back ends and runs commands in them.
//
// The contract:
//
//   - A back end has a name and a kind. Same name, same place, state kept. Which one runs a call: the call's own name, else
//     the session's selected one, else the default. An unknown name is run by the default, with a warning.
//   - The life of a back end is one state machine (machine.go). Every transition is published as event.BackendChanged with its
//     cause; load is published as event.BackendActivity. Concurrent first uses start it once.
//   - What cannot run where it was asked to run is an error. It is never moved to this machine.
//   - Each session has its own working directory in each back end, its own selected back end and its own background processes, which end
//     with it.
//   - The pool knows nothing of technologies: a Kind is handed to New. Adding one changes nothing here.
package pool
