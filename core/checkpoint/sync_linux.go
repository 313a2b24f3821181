package checkpoint

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncAll makes all that was written below dir safe: one call instead of one a file.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
