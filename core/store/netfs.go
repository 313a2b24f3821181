package store

import "strings"

// isNetwork says which types of file system have no coherent shared memory between their users.
func isNetwork(fsType string) bool {
	switch fsType {
	case "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "afs", "ceph", "glusterfs", "afpfs", "webdav", "fuse.sshfs":
		return true
	default:
		return strings.HasPrefix(fsType, "fuse.gluster") || strings.HasPrefix(fsType, "fuse.rclone") || strings.HasPrefix(fsType, "fuse.s3")
	}
}
