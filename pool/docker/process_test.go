package docker

// helperMain is the program when a test starts it as another process.
func helperMain() bool { return false }
