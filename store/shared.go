package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Shared says that others can put files into the directory of sessions, as into
// /tmp. Of those in it only this user's are used then: what a session says is
// sent to a model, and what is kept to undo a turn is written to files.
func (s *Sessions) Shared() bool {
	info, err := os.Stat(s.dir)
	return err == nil && info.IsDir() && (info.Mode()&0o022 != 0 || !s.ours(info))
}

// ours says whether a file is this user's, root's, or of the user whose state
// directory this is: sudo keeps the home directory of the one who called it.
func (s *Sessions) ours(info fs.FileInfo) bool {
	owner := ownerOf(info)
	if owner == os.Geteuid() || owner == 0 {
		return true
	}
	state, err := os.Stat(filepath.Dir(s.pointer))
	return err == nil && s.pointer != "" && owner == ownerOf(state)
}

func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
