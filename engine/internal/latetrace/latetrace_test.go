package latetrace

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "late-tick-*.trace"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOneTraceAMinute(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there yet")
	var clock atomic.Int64
	r, err := Start(dir, slog.New(slog.DiscardHandler), clock.Load)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for minute := range 2 {
		for range 1000 {
			r.Late(33 * time.Millisecond)
			clock.Add(int64(spacing) / 1000)
		}
		await.True(t, "a trace", func() bool { return len(files(t, dir)) == minute+1 })
	}
	r.Close()
	all := files(t, dir)
	if len(all) != 2 {
		t.Fatalf("%d traces", len(all))
	}
	for _, name := range all {
		p, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(p, []byte("go 1.")) || !bytes.Contains(p[:16], []byte(" trace")) {
			t.Errorf("%s begins with %q", name, p[:16])
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := Start(file, slog.New(slog.DiscardHandler), func() int64 { return 0 }); err == nil {
		r.Close()
		t.Error("a file was taken for a folder")
	}
}

func TestASecondRecorderIsRefused(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	r, err := Start(t.TempDir(), log, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if second, err := Start(t.TempDir(), log, func() int64 { return 0 }); err == nil {
		second.Close()
		t.Error("a process has one flight recorder")
	}
}

func TestAllocLate(t *testing.T) {
	r, err := Start(t.TempDir(), slog.New(slog.DiscardHandler), func() int64 { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.next.Store(2) // there was a file just now
	n := testing.AllocsPerRun(1000, func() { r.Late(time.Second) })
	t.Logf("a late tick within the minute: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
