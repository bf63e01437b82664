package games

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func makeRoot(t *testing.T, folders ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(f)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRootLists(t *testing.T) {
	dir := makeRoot(t, "b.example/rocks", "b.example/pong", "a.example/rocks", "localhost/try", "_shared/x", ".git/objects", "a.example/_shared",
		"a.example/.cache", "a.example/api", "a.example/internal", "a.example/bad name", "bad_@host/game", "Bücher.example/read",
		"B.example/again", "empty.example")
	if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.example", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "b.example"), filepath.Join(dir, "linked.example")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(dir, "a.example", "slash")); err != nil {
		t.Fatal(err)
	}
	r, err := ReadRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range r.Games {
		got = append(got, p.String())
		if rel, err := filepath.Rel(dir, p.Dir); err != nil || filepath.Base(rel) != p.Game {
			t.Errorf("%s lies in %s", p, p.Dir)
		}
	}
	// Upper case sorts first, so of two spellings of a domain the capital one is found.
	if want := "a.example/rocks b.example/again localhost/try xn--bcher-kva.example/read"; strings.Join(got, " ") != want {
		t.Errorf("games %s, want %s", strings.Join(got, " "), want)
	}
	want := []string{
		`"a.example/api" has a name that is the server's own`,
		`"a.example/bad name" has a name that is no plain URL segment`,
		`"a.example/internal" has a name that is the server's own`,
		`"a.example/slash" is a symbolic link`,
		`"b.example" is another spelling of a domain that is there already`,
		`"bad_@host" is no host name`,
		`"linked.example" is a symbolic link`,
	}
	if strings.Join(r.Refused, "\n") != strings.Join(want, "\n") {
		t.Errorf("refused\n%s\nwant\n%s", strings.Join(r.Refused, "\n"), strings.Join(want, "\n"))
	}
	if _, err := ReadRoot(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing root is no error")
	}
}

func TestResolve(t *testing.T) {
	r, err := ReadRoot(makeRoot(t, "b.example/rocks", "b.example/pong", "a.example/rocks", "localhost/try", "bücher.example/read",
		"localhost/pong", "10.0.0.9/solo", "c.example/Case"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ host, game, want string }{
		{"b.example", "rocks", "b.example/rocks"},
		{"a.example", "rocks", "a.example/rocks"},
		{"a.example:7350", "rocks", "a.example/rocks"},
		{"A.Example", "rocks", "a.example/rocks"},
		{"a.example.", "rocks", "a.example/rocks"},
		{"A.EXAMPLE.:443", "rocks", "a.example/rocks"},
		{"a.example", "pong", ""},
		{"a.example", "", ""},
		{"a.example", "Rocks", ""},
		{"c.example", "Case", "c.example/Case"},
		{"www.a.example", "rocks", ""},
		{"unknown.example", "rocks", ""},
		{"bücher.example", "read", "xn--bcher-kva.example/read"},
		{"BÜCHER.example", "read", "xn--bcher-kva.example/read"},
		{"xn--bcher-kva.example", "read", "xn--bcher-kva.example/read"},
		{"XN--BCHER-KVA.example:80", "read", "xn--bcher-kva.example/read"},
		{"localhost", "try", "localhost/try"},
		{"localhost:7350", "rocks", "a.example/rocks"},
		{"LOCALHOST", "pong", "localhost/pong"},
		{"localhost", "missing", ""},
		{"127.0.0.1", "rocks", "a.example/rocks"},
		{"127.0.0.1:7350", "pong", "b.example/pong"},
		{"[::1]", "pong", "b.example/pong"},
		{"[::1]:7350", "pong", "b.example/pong"},
		{"::1", "pong", "b.example/pong"},
		{"::1]", "pong", ""},
		{"[::1", "pong", ""},
		{"[[::1]]", "pong", ""},
		{"[127.0.0.1]", "pong", ""},
		{"10.0.0.9:80", "solo", "10.0.0.9/solo"},
		{"10.0.0.9", "rocks", "a.example/rocks"},
		{"localhost.evil.example", "rocks", ""},
		{"", "rocks", ""},
		{".", "rocks", ""},
		{":7350", "rocks", ""},
		{"a.example:port", "rocks", ""},
		{"a.example:123456", "rocks", ""},
		{"a..example", "rocks", ""},
		{"a.example/rocks", "rocks", ""},
		{"../a.example", "rocks", ""},
		{strings.Repeat("a", 300), "rocks", ""},
		{"\xff\xfe", "rocks", ""},
	} {
		p, ok := r.Resolve(c.host, c.game)
		got := ""
		if ok {
			got = p.String()
		}
		if got != c.want {
			t.Errorf("Resolve(%q, %q) = %q, want %q", c.host, c.game, got, c.want)
		}
	}
	for host, want := range map[string]bool{"a.example": true, "A.example.": true, "bücher.example": true, "localhost": true, "127.0.0.1": false,
		"x.example": false, "": false, "_shared": false} {
		if r.HasDomain(host) != want {
			t.Errorf("HasDomain(%q) is %t", host, !want)
		}
	}
}

func TestAllocResolve(t *testing.T) {
	r, err := ReadRoot(makeRoot(t, "a.example/rocks"))
	if err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		if _, ok := r.Resolve("a.example:7350", "rocks"); !ok {
			t.Fatal("not found")
		}
	})
	t.Logf("budget 0, measured %v", n)
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzResolve(f *testing.F) {
	for _, host := range []string{"a.example", "[::1]:80", "bücher.example:1", "xn--", "127.0.0.1", ".", "a:b:c"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		normal, ok := normalHost(host)
		if !ok {
			return
		}
		// What is normal stays as it is.
		if again, ok := normalHost(normal); !ok || again != normal {
			t.Errorf("%q becomes %q, and that %q", host, normal, again)
		}
	})
}
