//go:build unix && !linux

package realpath

import "golang.org/x/sys/unix"

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func statOf(st *unix.Stat_t) Stat {
	return Stat{
		Kind: kindOf(uint32(st.Mode)), Mode: uint32(st.Mode) & 0o7777, Size: st.Size, Dev: uint64(st.Dev), Ino: uint64(st.Ino),
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), UID: st.Uid, GID: st.Gid, Links: uint64(st.Nlink),
	}
}
