// Package limit holds two servers in C that do nothing but what the kernel must be asked
// for: they stand for the least that serving game sockets can cost, one by epoll, one by
// io_uring. Other servers are told as ratios to them.
//
// They speak the two forms of work of the echo scenario (see bench/beat): with beat, each
// upgraded socket is sent a message on every beat and what it sends is counted; with echo,
// each message is answered with itself at once. The upgrade is the least that a WebSocket
// client accepts; frames, masks and bytes are the same as any server's. Neither
// survives misuse.
//
// Sources are part of this package. Build compiles them with the machine's C compiler, once
// for each version of the source, into the user's cache folder.
package limit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed src
var source embed.FS

// Program is one of the servers.
type Program string

// The servers. Uring takes a further argument, the number of completions that it waits
// for, at most a millisecond; 64 without it, 0 looks at them on beats alone.
const (
	Epoll Program = "epoll"
	Uring Program = "uring"
)

// Form is the work that a server does.
type Form string

// The forms.
const (
	Beat Form = "beat"
	Echo Form = "echo"
)

// ErrNoCompiler says that the machine has no C compiler.
var ErrNoCompiler = errors.New("no C compiler: neither $CC nor cc, gcc or clang was found; on Debian: apt-get install gcc libc6-dev")

// Build returns the path of the compiled program, which it makes if it is not there
// yet. The error is ErrNoCompiler, or says what the compiler said.
func Build(ctx context.Context, p Program) (string, error) {
	cc := os.Getenv("CC")
	for _, name := range []string{"cc", "gcc", "clang"} {
		if cc == "" {
			cc, _ = exec.LookPath(name)
		}
	}
	if cc == "" {
		return "", ErrNoCompiler
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for compiled servers: %w", err)
	}
	sum := sha256.New()
	files, err := fs.Glob(source, "src/*")
	if err != nil {
		return "", err
	}
	text := map[string][]byte{}
	for _, f := range files {
		if text[f], err = source.ReadFile(f); err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", f, len(text[f]), text[f])
	}
	fmt.Fprint(sum, cc)
	dir := filepath.Join(cache, "gamehoster", "limit-"+hex.EncodeToString(sum.Sum(nil))[:16])
	out := filepath.Join(dir, string(p))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	work, err := os.MkdirTemp("", "gamehoster-limit-")
	if err != nil {
		return "", fmt.Errorf("compiling the limit server: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	for f, b := range text {
		if err := os.WriteFile(filepath.Join(work, filepath.Base(f)), b, 0o600); err != nil {
			return "", fmt.Errorf("compiling the limit server: %w", err)
		}
	}
	if err := compile(ctx, cc, work, string(p)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("compiling the limit server: %w", err)
	}
	return out, install(filepath.Join(work, string(p)), out)
}

// compile prefers a static program, which starts the same anywhere; not every machine
// has the libraries for it.
func compile(ctx context.Context, cc, dir, name string) error {
	var said []byte
	for _, link := range [][]string{{"-static"}, nil} {
		cmd := exec.CommandContext(ctx, cc, append([]string{"-O2", "-o", name, name + ".c"}, link...)...)
		cmd.Dir = dir
		var err error
		if said, err = cmd.CombinedOutput(); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("compiling %s.c with %s: %s", name, cc, bytes.TrimSpace(said))
}

// install puts the program into its place in one step, since others may be building it, too.
func install(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("compiling the limit server: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return fmt.Errorf("keeping the compiled server: %w", err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o755), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("keeping the compiled server: %w", err)
	}
	return nil
}

// Command is the command that runs a built program at 127.0.0.1:port (0 takes any): hz
// beats a second, with payload bytes each, 16 to 125. Its first line on stdout is
// "listening PORT". It ends on SIGTERM with exit code 0, and then writes Counts as JSON.
func Command(ctx context.Context, path string, port, hz, payload int, f Form, more ...string) *exec.Cmd {
	args := append([]string{strconv.Itoa(port), strconv.Itoa(hz), strconv.Itoa(payload), string(f)}, more...)
	return exec.CommandContext(ctx, path, args...)
}

// Counts are what a server has done in all.
type Counts struct {
	Received int64 `json:"received"` // messages
	Sent     int64 `json:"sent"`
	Dropped  int64 `json:"dropped"` // messages that a socket did not take at once
	Calls    int64 `json:"calls"`   // system calls after the start, without those of accepting
	Beats    int64 `json:"beats"`
}
