// Package wire carries pool/runner over one stream of bytes: the standard input and output of a
// program that runs on the other side, in a container or on a far host. A Client is our side, a
// Server theirs (pool/runner/program is little more than a Server).
//
// How a kind of back end uses it:
//
//	rw := ... // what reads the program's standard output, writes its standard input, and whose Close ends both blocked calls
//	client, err := wire.Connect(ctx, rw, wire.Options{})       // owns rw from now on, also when it fails
//	res, err := client.Run(ctx, spec)                          // as runner.Runner.Run
//	p, err := client.Start(spec)                               // *Process is a pool.Process
//	cause := <-client.Gone()                                   // one cause when the stream is lost
//	err = client.Close(ctx)                                    // ends the commands of this connection, and then the stream
//
// The contract is runner's, and:
//
//   - An error that is a *NotStarted promises that the command did not begin, for want of a
//     connection that works. One that is a *Lost says that nobody knows. Any other is about the
//     command: it could not be started, and no other connection would change that.
//   - The environment of a command is that of the far program (of the container's image, of the far
//     login), completed by runner.Environ, then Spec.Env, then Spec.Extra, where the later one
//     wins. Spec.Env is thus what is added, not the whole. Secrets of our process stay here.
//   - Spec.Shell "" is Info.Shell, Spec.Home "" is Info.Dir (WORKDIR of an image, the login's
//     home).
//   - Timeouts run on the far side. Output is kept and spilled on our side. A Sink that is too slow
//     loses the middle of what it is shown; a connection that is too slow makes a command wait in
//     the foreground, and loses output, with a note, in the background.
//   - Calls share the stream and cannot hold each other up: every direction of every call has a
//     window of its own.
//   - Each side says something every Options.Heartbeat; after three of them without a word the
//     other is lost. The far side then ends, after its grace, what this connection started.
//   - The other side may be hostile: frames are bounded, and nonsense ends the connection with an
//     error, not the program.
//
// It must not import pool.
package wire
