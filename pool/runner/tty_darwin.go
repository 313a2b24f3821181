package runner

import "os"

// makePollable leaves f as it is: kqueue is not reliable on terminals, and macOS takes a terminal
// away from everybody when the leader of its session ends, so that nobody can hold the reader.
func makePollable(f *os.File) (*os.File, error) { return f, nil }
