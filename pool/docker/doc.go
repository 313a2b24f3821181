// Package docker is the kind of back end that is a container on a Docker engine.
//
// The contract:
//
//   - A session's back end is one container, whose name follows from data folder, session and back
//     end. The engine gives a name to one container only, so the name is the lock between
//     processes; file locks (lock.go) say who uses it.
//   - The runner (pool/runner/program) is the container's first process, on a volume that is
//     mounted read-only (install.go). Commands go through the stream that is attached to it, never
//     through an exec. When our process dies the stream ends, and after Options.Grace the container
//     with it.
//   - What a crash leaves behind is found by labels and removed by the next process (sweep.go),
//     running or not, when no process holds its locks. What has not our labels, with the number of
//     our data folder, is never touched, whatever its name.
//   - A container is hardened without being asked (plan.go), and what of the host it may see is
//     checked (mounts.go).
//   - The environment of the configuration travels with each command. Neither the engine nor a
//     label gets to know it.
//   - A container whose settings changed is made anew when nobody else uses it; its files go, and
//     the next result says so.
//   - What happens to a container behind our back ends the connection with its cause. A call in its
//     middle gets an error that says that the command may still have run, and is never repeated
//     here.
package docker
