// Package machine is what benchmarks need of the machine: what it is, what time of its
// processors a program took, and who runs on which of them.
package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Facts are what a report says of the machine and of what was measured there.
type Facts struct {
	Date     string `json:"date"` // UTC, to the minute
	Commit   string `json:"commit"`
	Kernel   string `json:"kernel"`
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemoryMB int    `json:"memoryMB"`
	Go       string `json:"go"`
	Load     string `json:"load"` // the load averages before the run: what else went on
}

// Look finds the facts. source is the project's folder, of which the commit is taken.
func Look(ctx context.Context, source string) (Facts, error) {
	f := Facts{
		Date:  time.Now().UTC().Format("2006-01-02 15:04"),
		CPU:   cpuModel(),
		Cores: runtime.NumCPU(),
		Go:    runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return f, fmt.Errorf("asking for the kernel's version: %w", err)
	}
	f.Kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return f, fmt.Errorf("asking for the machine's memory: %w", err)
	}
	f.MemoryMB = int(s.Totalram * uint64(s.Unit) >> 20)
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 3 {
			f.Load = strings.Join(fields[:3], " ")
		}
	}
	f.Commit = commit(ctx, source)
	return f, nil
}

// commit is that of the project's folder; a word where there is none, and another
// one where files differ from it.
func commit(ctx context.Context, source string) string {
	git := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", source}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	c := git("rev-parse", "--short", "HEAD")
	if c == "" {
		return "unknown"
	}
	if git("status", "--porcelain", "--untracked-files=no") != "" {
		c += " with changes"
	}
	return c
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

// String is the facts in one line.
func (f Facts) String() string {
	return fmt.Sprintf("%s, commit %s, %s, %s, %d cores, %d MB, %s, load %s", f.Date, f.Commit, f.Kernel, f.CPU, f.Cores, f.MemoryMB, f.Go, f.Load)
}
