package provider

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"cluade/internal/chat"
)

func TestHostileJSONIsRefusedUnread(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 100_000)
	wide := `{"x":[` + strings.Repeat("0,", 3<<20) + `0]}`
	for name, s := range map[string]string{"deep": deep, "wide": wide, "deep and small": `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		if isObject(s) {
			t.Errorf("isObject of %s JSON = true", name)
		}
		runtime.ReadMemStats(&after)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("isObject of %s JSON took %v", name, took)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("isObject of %s JSON took %d MiB", name, used>>20)
		}
	}
	if !isObject(`{"a":[1,2,{"b":"c"}]}`) {
		t.Error("isObject of plain JSON = false")
	}
}

func TestTraceIntoPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&trace{path: path}).write(&chat.Reply{}, nil)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("a trace into a pipe without a reader waits")
		if f, err := os.OpenFile(path, os.O_RDONLY, 0); err == nil {
			f.Close()
		}
	}
}
