package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gamehoster/games"
)

// openStore is a store with one game, a.example/game, of two files.
func openStore(t *testing.T) (*Store, Folder) {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := at(t, "a.example", "game")
	put(t, s, f, "one.js", "1")
	put(t, s, f, "sub/two.js", "2")
	return s, f
}

func at(t *testing.T, domain, game string) Folder {
	t.Helper()
	f, err := At(domain, game)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t *testing.T, s *Store, f Folder, p, text string) {
	t.Helper()
	file, err := s.Put(f, p, []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if want := (File{p, int64(len(text)), Sum([]byte(text))}); file != want {
		t.Fatalf("Put returned %+v, want %+v", file, want)
	}
}

// disk is everything below a folder: what files say, links with where they lead.
func disk(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		switch {
		case e.IsDir():
			all[name] = "folder"
		case e.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			all[name] = "link to " + to
		default:
			text, err := os.ReadFile(p)
			all[name] = "file " + string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unchanged fails the test if a folder is another one after do.
func unchanged(t *testing.T, dir, what string, do func()) {
	t.Helper()
	before := disk(t, dir)
	do()
	if after := disk(t, dir); !maps.Equal(before, after) {
		t.Errorf("%s left\n%v\nwhere there was\n%v", what, after, before)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ domain, game string }{
		{"", "game"}, {".", "game"}, {"..", "game"}, {"../x", "game"}, {"/etc", "game"}, {"a/b", "game"},
		{"_shared", "game"}, {".hidden", "game"}, {"a.example:80", "game"}, {"a.example.", "game"}, {"a..example", "game"},
		{"a\x00b", "game"}, {"user@a.example", "game"}, {"a b", "game"}, {"-a.example", "game"}, {strings.Repeat("a.", 127) + "example", "game"},
		{strings.Repeat("a", 64), "game"}, {"a%2eexample", "game"}, {"*.example", "game"}, {"http://a.example", "game"}, {".staged", "game"},
		{"a.example", ""}, {"a.example", "."}, {"a.example", ".."}, {"a.example", "../game"}, {"a.example", "a/b"}, {"a.example", "_private"},
		{"a.example", ".git"}, {"a.example", "api"}, {"a.example", "internal"}, {"a.example", "a\x00"}, {"a.example", "gäme"}, {"a.example", "a b"},
		{"a.example", strings.Repeat("a", 65)}, {"a.example", `a\b`}, {"a.example", ".sync-set-x"},
	} {
		if f, err := At(c.domain, c.game); !errors.Is(err, ErrName) {
			t.Errorf("%q %q is taken for the folder %v, %v", c.domain, c.game, f, err)
		}
	}
	for given, want := range map[string]string{"A.Example": "a.example", "BÜCHER.example": "xn--bcher-kva.example", "10.0.0.9": "10.0.0.9", "::1": "::1", "localhost": "localhost"} {
		if f, err := At(given, "game"); err != nil || f.Domain() != want {
			t.Errorf("the domain %q is %q, %v; want %q", given, f.Domain(), err, want)
		}
	}
}

var badPaths = []string{
	"", ".", "..", "../game/one.js", "../../etc/passwd", "sub/../one.js", "sub/../../x", "./one.js", "sub//two.js", "sub/", "/one.js", "/etc/passwd", "//x",
	"one\x00.js", "one.js\n", "tab\t.js", "del\x7f.js", `sub\two.js`, `..\x`, "bad\xff.js", "\xc0\xae\xc0\xae/x",
	".hidden", ".git/config", "sub/.hidden", ".sync-file-x", ".staged/x", "node_modules/a.js", "sub/node_modules/a.js",
	games.ScriptFile, games.MapFile, games.TypesFile, games.RulesFile,
	strings.Repeat("x", maxElement+1), strings.Repeat("d/", maxDepth) + "x", strings.Repeat(strings.Repeat("y", 100)+"/", 6) + "x", strings.Repeat("z", 1<<20),
}

func TestPathsThatAreRefused(t *testing.T) {
	s, f := openStore(t)
	unchanged(t, s.dir, "a refused path", func() {
		for _, p := range badPaths {
			shown := show(p)
			if _, err := s.Put(f, p, []byte("x"), ""); !errors.Is(err, ErrName) {
				t.Errorf("putting %s came to %v", shown, err)
			}
			if _, _, err := s.Get(f, p); !errors.Is(err, ErrName) {
				t.Errorf("getting %s came to %v", shown, err)
			}
			if err := s.Delete(f, p, ""); !errors.Is(err, ErrName) {
				t.Errorf("deleting %s came to %v", shown, err)
			}
			if _, _, err := s.Commit(f, []File{{Path: p, SHA256: Sum([]byte("1"))}}, true); !errors.Is(err, ErrName) {
				t.Errorf("committing %s came to %v", shown, err)
			}
		}
	})
	for _, p := range []string{"a.b-c_d.js", "_private.js", "page/index.html", "sub/" + games.ScriptFile, "ä ö.js", strings.Repeat("x", maxElement), games.SharedFolder + "/a.js"} {
		put(t, s, f, p, "x")
	}
	put(t, s, at(t, "a.example", games.SharedFolder), games.ScriptFile, "x") // nothing is built there
}

// A link is nobody's file, wherever it is and wherever it leads.
func TestLinksAreRefused(t *testing.T) {
	s, f := openStore(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(s.dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "linked.example")
	link("a.example", "inside.example")
	link(outside, "a.example/out")
	link("game", "a.example/in")
	link(filepath.Join(outside, "secret"), "a.example/game/file.js")
	link("one.js", "a.example/game/within.js")
	link(outside, "a.example/game/folder")
	link("sub", "a.example/game/folder2")
	link("nowhere", "a.example/game/dangling.js")
	unchanged(t, outside, "a link", func() {
		unchanged(t, s.dir, "a link", func() {
			for _, c := range []struct{ domain, game, path string }{
				{"linked.example", "game", "x.js"}, {"inside.example", "game", "one.js"}, {"a.example", "out", "secret"}, {"a.example", "in", "one.js"},
				{"a.example", "game", "file.js"}, {"a.example", "game", "within.js"}, {"a.example", "game", "folder/secret"},
				{"a.example", "game", "folder2/two.js"}, {"a.example", "game", "folder/new/x.js"}, {"a.example", "game", "dangling.js"},
			} {
				f := at(t, c.domain, c.game)
				if _, err := s.Put(f, c.path, []byte("x"), ""); !errors.Is(err, ErrName) {
					t.Errorf("putting %+v came to %v", c, err)
				}
				if _, _, err := s.Get(f, c.path); !errors.Is(err, ErrName) {
					t.Errorf("getting %+v came to %v", c, err)
				}
				if err := s.Delete(f, c.path, ""); !errors.Is(err, ErrName) {
					t.Errorf("deleting %+v came to %v", c, err)
				}
				if c.domain == "a.example" && c.game == "game" {
					continue
				}
				if _, err := s.Manifest(f); !errors.Is(err, ErrName) {
					t.Errorf("listing %+v came to %v", c, err)
				}
				if _, _, err := s.Commit(f, []File{}, true); !errors.Is(err, ErrName) {
					t.Errorf("committing to %+v came to %v", c, err)
				}
				if err := s.Remove(f); !errors.Is(err, ErrName) {
					t.Errorf("removing %+v came to %v", c, err)
				}
			}
		})
	})
	if all, err := s.Manifest(f); err != nil || len(all) != 2 {
		t.Fatalf("the manifest of a folder with links is %+v, %v", all, err)
	}
}

func TestPutGetDelete(t *testing.T) {
	s, f := openStore(t)
	content, file, err := s.Get(f, "sub/two.js")
	if err != nil || string(content) != "2" || file.SHA256 != Sum([]byte("2")) {
		t.Fatalf("got %q, %+v, %v", content, file, err)
	}
	put(t, s, f, "sub/two.js", "22")
	all, err := s.Manifest(f)
	if err != nil || len(all) != 2 || all[0].Path != "one.js" || all[1] != (File{"sub/two.js", 2, Sum([]byte("22"))}) {
		t.Fatalf("the manifest is %+v, %v", all, err)
	}
	put(t, s, f, "sub/deep/er/x.js", "x")
	if err := s.Delete(f, "sub/deep/er/x.js", ""); err != nil {
		t.Fatal(err)
	}
	if d := disk(t, s.dir); d["a.example/game/sub/deep"] != "" || d["a.example/game/sub"] == "" {
		t.Fatalf("a deleted file left %v", d)
	}
	for what, err := range map[string]error{
		"a file that is gone": s.Delete(f, "sub/deep/er/x.js", ""),
		"a folder in a game that is not there": func() error {
			_, err := s.Manifest(at(t, "b.example", "game"))
			return err
		}(),
		"a game that is not there": s.Remove(at(t, "a.example", "other")),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s came to %v", what, err)
		}
	}
	unchanged(t, s.dir, "a file in a folder's place", func() {
		for _, p := range []string{"sub", "one.js/x"} {
			if _, err := s.Put(f, p, []byte("x"), ""); !errors.Is(err, ErrName) {
				t.Errorf("putting %q came to %v", p, err)
			}
		}
	})
	if err := s.Remove(f); err != nil {
		t.Fatal(err)
	}
	if d := disk(t, s.dir); len(d) != 2 { // the root and the domain
		t.Fatalf("a removed game left %v", d)
	}
}

// A domain's folder may be spelt as people write it.
func TestADomainIsFoundInAnotherSpelling(t *testing.T) {
	s, _ := openStore(t)
	if err := os.MkdirAll(filepath.Join(s.dir, "BÜCHER.example", "game"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, s, at(t, "xn--bcher-kva.example", "game"), "x.js", "x")
	if d := disk(t, s.dir); d["BÜCHER.example/game/x.js"] != "file x" || d["xn--bcher-kva.example"] != "" {
		t.Fatalf("the file is at %v", d)
	}
}

func TestIfMatch(t *testing.T) {
	one, other := Match(Sum([]byte("1"))), Match(Sum([]byte("other")))
	for _, c := range []struct {
		path  string
		match Match
		want  error
	}{
		{"one.js", "", nil}, {"one.js", "*", nil}, {"one.js", one, nil}, {"one.js", other, ErrMatch}, {"one.js", "x", ErrMatch},
		{"new.js", "", nil}, {"new.js", "*", ErrMatch}, {"new.js", one, ErrMatch}, {"no/such/new.js", "*", ErrMatch},
	} {
		s, f := openStore(t)
		write := func() error { _, err := s.Put(f, c.path, []byte("new"), c.match); return err }
		remove := func() error { return s.Delete(f, c.path, c.match) }
		for what, do := range map[string]func() error{"put": write, "delete": remove} {
			if c.want == nil && what == "delete" {
				continue
			}
			if c.want == nil {
				if err := do(); err != nil {
					t.Errorf("%s of %s if it is %q came to %v", what, c.path, c.match, err)
				}
				continue
			}
			unchanged(t, s.dir, what, func() {
				if err := do(); !errors.Is(err, c.want) {
					t.Errorf("%s of %s if it is %q came to %v, want %v", what, c.path, c.match, err, c.want)
				}
			})
		}
		if c.path == "one.js" && c.want == nil {
			if err := s.Delete(f, "one.js", Match(Sum([]byte("new")))); err != nil {
				t.Errorf("deleting what was written came to %v", err)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	s, f := openStore(t)
	s.write = func(file *os.File, content []byte) error { _, err := file.Write(content); return err } // a thousand need not be on the disk
	whole := bytes.Repeat([]byte("x"), games.MaxFileBytes)
	unchanged(t, s.dir, "a file too large", func() {
		if _, err := s.Put(f, "x", append(whole, 'x'), ""); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a file too large came to %v", err)
		}
		if err := s.Stage(Sum(append(whole, 'x')), append(whole, 'x')); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a content too large came to %v", err)
		}
	})
	for i := range games.MaxGameBytes/games.MaxFileBytes - 1 {
		put(t, s, f, fmt.Sprintf("large%d", i), string(whole))
	}
	unchanged(t, s.dir, "a game too large", func() {
		if _, err := s.Put(f, "more", whole, ""); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a game too large came to %v", err)
		}
		set := []File{}
		for i := range games.MaxGameBytes/games.MaxFileBytes + 1 {
			set = append(set, File{Path: fmt.Sprintf("same%d", i), SHA256: Sum(whole)})
		}
		if _, _, err := s.Commit(f, set, true); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a set too large came to %v", err)
		}
	})
	put(t, s, f, "large0", string(whole)) // as large as it was

	many := at(t, "a.example", "many")
	set := []File{}
	for i := range games.MaxFiles {
		set = append(set, File{Path: fmt.Sprintf("%d.js", i), SHA256: Sum([]byte("x"))})
	}
	put(t, s, many, "0.js", "x")
	if _, changed, err := s.Commit(many, set, true); err != nil || !changed {
		t.Fatalf("as many files as may be came to %v, %v", changed, err)
	}
	put(t, s, many, "0.js", "y")
	unchanged(t, s.dir, "a file too many", func() {
		if _, err := s.Put(many, "more.js", nil, ""); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a file too many came to %v", err)
		}
		if _, _, err := s.Commit(many, append(set, File{Path: "more.js", SHA256: Sum([]byte("x"))}), true); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a set of too many came to %v", err)
		}
		if _, _, err := s.Commit(many, []File{{Path: "more.js", SHA256: Sum([]byte("x"))}}, false); !errors.Is(err, ErrTooLarge) {
			t.Errorf("one more than there are came to %v", err)
		}
	})
}

// A disk that is full, at any write, costs the write and nothing else.
func TestAFullDiskChangesNothing(t *testing.T) {
	s, f := openStore(t)
	if err := s.Stage(Sum([]byte("new")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	set := []File{{Path: "one.js", SHA256: Sum([]byte("new"))}, {Path: "a/b/c.js", SHA256: Sum([]byte("2"))}, {Path: "sub/two.js", SHA256: Sum([]byte("2"))}}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		for at1 := range 2 {
			writes := 0
			s.write = func(file *os.File, content []byte) error {
				if writes++; writes <= at1 {
					return writeAndSync(file, content)
				}
				_, _ = file.Write(content[:len(content)/2])
				return &fs.PathError{Op: "write", Path: file.Name(), Err: errno}
			}
			unchanged(t, s.dir, "a full disk", func() {
				if _, _, err := s.Commit(f, set, true); !errors.Is(err, ErrFull) {
					t.Errorf("a commit at write %d came to %v", at1, err)
				}
				if at1 > 0 {
					return
				}
				if _, err := s.Put(f, "one.js", []byte("new"), ""); !errors.Is(err, ErrFull) {
					t.Errorf("a put came to %v", err)
				}
				if _, err := s.Put(f, "new/folder/x.js", []byte("new"), ""); !errors.Is(err, ErrFull) {
					t.Errorf("a put into new folders came to %v", err)
				}
				if _, err := s.Put(at(t, "b.example", "game"), "x.js", []byte("new"), ""); !errors.Is(err, ErrFull) {
					t.Errorf("a put into a new game came to %v", err)
				}
				if _, _, err := s.Commit(at(t, "c.example", "game"), set[:1], true); !errors.Is(err, ErrFull) {
					t.Errorf("a commit of a new game came to %v", err)
				}
				if err := s.Stage(Sum([]byte("more")), []byte("more")); !errors.Is(err, ErrFull) {
					t.Errorf("staging came to %v", err)
				}
			})
		}
	}
	s.write = writeAndSync
	if missing, changed, err := s.Commit(f, set, true); err != nil || !changed || len(missing) > 0 {
		t.Fatalf("with room again the commit came to %v, %v, %v", missing, changed, err)
	}
}

// What a process that was killed left behind goes, and nothing else.
func TestSweep(t *testing.T) {
	s, f := openStore(t)
	put(t, s, f, "deep/er/x.js", "x")
	want := disk(t, s.dir)
	for _, p := range []string{".staged/abc", "a.example/.sync-set-1/x.js", "a.example/game/.sync-file-1", "a.example/game/deep/er/.sync-file-2"} {
		p = filepath.Join(s.dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("left"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.Manifest(f); err != nil || len(all) != 3 {
		t.Fatalf("what is left over is in the manifest: %+v, %v", all, err)
	}
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := disk(t, s.dir); !maps.Equal(got, want) {
		t.Fatalf("swept, the root holds %v", slices.Sorted(maps.Keys(got)))
	}
}
