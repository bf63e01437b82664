package share_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gamehoster/cmd/gamehoster/share"
)

// systemd has nothing to say about the units.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatal("there is no systemd-analyze; make tools-systemd installs it")
	}
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"gamehoster.socket", "gamehoster.service"} {
		text, err := share.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// It looks for the program.
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/gamehoster", p)), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if out, err := exec.Command("systemd-analyze", append([]string{"verify"}, paths...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The command line of the unit is one that serve takes, and its flags have the files that
// the other lines of the unit make.
func TestUnitsCommandLine(t *testing.T) {
	text, err := share.Files.ReadFile("gamehoster.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "\nExecStart=")
	line, _, _ = strings.Cut(line, "\n")
	state, logs, credentials := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(state, "gamehoster/games"), filepath.Join(logs, "gamehoster")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(credentials, "token"), []byte("a-long-secret-word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(strings.NewReplacer("%S", state, "%L", logs, "%d", credentials).Replace(line))
	if len(args) < 4 || args[0] != "/usr/local/bin/gamehoster" || args[1] != "serve" {
		t.Fatalf("ExecStart is %q", line)
	}
	s := supervise(t, args[3])
	s.start(args[2:]...).stop(t)
}

// gamehoster example prints the files as they are.
func TestExamples(t *testing.T) {
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for what, name := range map[string]string{"caddyfile": "Caddyfile", "service": "gamehoster.service", "socket": "gamehoster.socket"} {
		want, err := share.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := exec.Command(p, "example", what).Output(); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v, %d bytes, want %d", what, err, len(got), len(want))
		}
	}
}
