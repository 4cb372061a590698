package store

import (
	"path/filepath"
	"syscall"
)

// OnFlash says whether a path lies on flash that wears: on jffs2, ubifs, or the
// overlay that is the root of a router. What does not exist lies where it would
// be made. The magic numbers are those of linux/magic.h and of ubifs.
func OnFlash(path string) bool {
	const jffs2, ubifs, overlay = 0x72b6, 0x24051905, 0x794c7630
	var st syscall.Statfs_t
	for p := path; ; p = filepath.Dir(p) {
		if syscall.Statfs(p, &st) == nil {
			magic := uint32(st.Type)
			return magic == jffs2 || magic == ubifs || magic == overlay
		}
		if p == filepath.Dir(p) {
			return false
		}
	}
}
