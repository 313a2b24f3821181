package docker

import "golang.org/x/sys/unix"

// machineID is the number of the hardware.
func machineID() string {
	id, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return id
}
