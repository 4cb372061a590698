package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// HideEnv blanks variables of this process where other processes, root's
// included, can read them: /proc/PID/environ shows the memory in which the kernel
// put them at the start. The Go runtime has a copy of its own, so os.Getenv
// still knows them. Where the kernel does not allow it, nothing happens.
func HideEnv(names []string) {
	if len(names) == 0 {
		return
	}
	env, err := os.ReadFile("/proc/self/environ")
	start, ok := envStart()
	if err != nil || !ok {
		return
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer mem.Close()
	for off := 0; off < len(env); {
		entry, _, _ := bytes.Cut(env[off:], []byte{0})
		if name, _, _ := strings.Cut(string(entry), "="); slices.Contains(names, name) {
			blank(mem, start+int64(off), entry)
		}
		off += len(entry) + 1
	}
}

// envStart is the address of the environment; proc_pid_stat(5), field 50.
// Emulators of other processors may give none.
func envStart() (int64, bool) {
	const fieldsBefore = 2 // number and name of the process, which may hold blanks
	stat, err := os.ReadFile("/proc/self/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 50-fieldsBefore {
		return 0, false
	}
	start, err := strconv.ParseInt(string(fields[49-fieldsBefore]), 10, 64)
	return start, err == nil && start > 0
}

// blank overwrites a text, if it is at this address.
func blank(mem *os.File, at int64, text []byte) {
	there := make([]byte, len(text))
	if _, err := mem.ReadAt(there, at); err == nil && bytes.Equal(there, text) {
		mem.WriteAt(bytes.Repeat([]byte{' '}, len(text)), at)
	}
}
