package lineedit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLostPasteEnd has a paste that never ends: Ctrl-C drops the line, and until
// then nothing runs.
func TestLostPasteEnd(t *testing.T) {
	p := newChild(t, "lines")
	p.sees("> ")
	p.types("\x1b[200~hello")
	deadline := time.Now().Add(20 * time.Second)
	for !p.idle() { // a second after the last of the paste
		if time.Now().After(deadline) {
			t.Fatal("it wakes again and again")
		}
	}
	p.types("\x03")
	p.sees("^C")
	p.types("z\r")
	p.sees(`got "z"`)
	p.types("\x04")
	p.ends()
}

// idle says that the program did not run for more than a second.
func (p *person) idle() bool {
	before := p.switches()
	time.Sleep(1200 * time.Millisecond)
	return p.switches() == before
}

// switches counts how often the threads of the program gave up the processor.
func (p *person) switches() (n int) {
	p.t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.cmd.Process.Pid))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		_, count, _ := strings.Cut(string(data), "\nvoluntary_ctxt_switches:")
		count, _, _ = strings.Cut(count, "\n")
		k, err := strconv.Atoi(strings.TrimSpace(count))
		if err != nil {
			p.t.Skip("no count of context switches here")
		}
		n += k
	}
	return n
}

// TestLongUnmarkedPaste bounds what a long paste makes the program write: the
// screen is not painted for each line.
func TestLongUnmarkedPaste(t *testing.T) {
	p := newChild(t, "lines")
	p.sees("> ")
	const lines = 4000
	p.types(strings.Repeat("some words of a line\r", lines))
	p.sees("got ")
	p.mu.Lock()
	wrote := p.at
	p.mu.Unlock()
	if most := 100 * lines / 4; wrote > most {
		t.Errorf("%d lines make it write %d bytes, want at most %d", lines, wrote, most)
	}
	p.sees("> ")
	p.types("\x04")
	p.ends()
	if took := p.cmd.ProcessState.UserTime(); took > 2*time.Second {
		t.Errorf("it takes %v", took)
	}
}
