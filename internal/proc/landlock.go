package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Rights of Landlock (linux/landlock.h) that write. Reading and executing are
// not handled, so they stay free.
const (
	llWriteFile  = 1 << 1
	llRemoveDir  = 1 << 4
	llRemoveFile = 1 << 5
	llMakeChar   = 1 << 6
	llMakeDir    = 1 << 7
	llMakeReg    = 1 << 8
	llMakeSock   = 1 << 9
	llMakeFifo   = 1 << 10
	llMakeBlock  = 1 << 11
	llMakeSym    = 1 << 12
	llRefer      = 1 << 13 // version 2
	llTruncate   = 1 << 14 // version 3
)

// landlockCall is the first of the three system calls, the same number on all
// machines since Linux 5.13 but for the offset of MIPS o32.
func landlockCall() uintptr {
	if runtime.GOARCH == "mips" || runtime.GOARCH == "mipsle" {
		return 4444
	}
	return 444
}

// landlockVersion is the version the kernel offers, 0 if none.
func landlockVersion() int {
	const askVersion = 1
	v, _, errno := syscall.Syscall(landlockCall(), 0, 0, askVersion)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// harmless are devices that a confined command may write to.
var harmless = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts", "/dev/ptmx"}

// Confine limits where this process may write to the directories args[0] and
// args[1] (either may be empty) and harmless devices, and becomes the command
// in args[2:]. Programs that change the user (sudo) stop working. It returns
// only with an error.
func Confine(args []string) error {
	if len(args) < 3 {
		return errors.New("confine: no command given")
	}
	runtime.LockOSThread() // the thread that is confined must be the one that becomes the command
	if err := confine(args[:2]); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return fmt.Errorf("run %s: %w", args[2], syscall.Exec(args[2], args[2:], os.Environ()))
}

func confine(dirs []string) error {
	version := landlockVersion()
	if version < 1 {
		return errors.New("this kernel has no Landlock")
	}
	files := uint64(llWriteFile)
	rights := uint64(llWriteFile | llRemoveDir | llRemoveFile | llMakeChar | llMakeDir | llMakeReg | llMakeSock | llMakeFifo | llMakeBlock | llMakeSym)
	if version >= 2 {
		rights |= llRefer
	}
	if version >= 3 {
		rights |= llTruncate
		files |= llTruncate
	}
	rules, _, errno := syscall.Syscall(landlockCall(), uintptr(unsafe.Pointer(&rights)), unsafe.Sizeof(rights), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	defer syscall.Close(int(rules))
	for _, d := range dirs {
		if d != "" {
			if err := allow(rules, d, rights); err != nil {
				return err
			}
		}
	}
	for _, d := range harmless {
		if _, err := os.Stat(d); err != nil {
			continue
		}
		if err := allow(rules, d, files); err != nil {
			return err
		}
	}
	const setNoNewPrivs = 38
	if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	if _, _, errno := syscall.Syscall(landlockCall()+2, rules, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// allow lets writes through below a path.
func allow(rules uintptr, path string, rights uint64) error {
	const oPath = 0x200000 // O_PATH
	fd, err := syscall.Open(path, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer syscall.Close(fd)
	// struct landlock_path_beneath_attr is packed: 8 bytes and 4.
	var attr [12]byte
	binary.NativeEndian.PutUint64(attr[:8], rights)
	binary.NativeEndian.PutUint32(attr[8:], uint32(fd))
	const pathBeneath = 1
	if _, _, errno := syscall.Syscall6(landlockCall()+1, rules, pathBeneath, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}
