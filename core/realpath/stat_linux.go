package realpath

import "golang.org/x/sys/unix"

// dirFlags open a folder to go through it: O_PATH needs no right to list it.
const dirFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func statOf(st *unix.Stat_t) Stat {
	return Stat{
		Kind: kindOf(st.Mode), Mode: st.Mode & 0o7777, Size: st.Size, Dev: st.Dev, Ino: st.Ino,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink), //nolint:unconvert // its type differs between systems
	}
}
