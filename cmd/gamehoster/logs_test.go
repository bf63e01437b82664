package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogDir wants flags that cannot be followed to be refused with their names.
func TestLogDir(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--log-dir", file}, "--log-dir: "},
		{[]string{"--log-dir", t.TempDir(), "--admin", "nonsense"}, "--admin: "},
		{[]string{"--admin", "127.0.0.1:99999"}, "--admin: "},
	} {
		code, out := say(t, append([]string{"serve", "--root", root, "--port", "0", "--workers", "inline"}, c.args...)...)
		if code != 1 || !strings.Contains(out, c.want) {
			t.Errorf("%v: code %d: %s", c.args, code, out)
		}
	}
}
