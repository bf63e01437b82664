package files

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/games"
)

// setOf is the set of a folder whose files say this.
func setOf(texts map[string]string) (set []File) {
	for p, text := range texts {
		set = append(set, File{Path: p, SHA256: Sum([]byte(text))})
	}
	return set
}

// commit stages what is missing and commits, as a client does.
func commitAll(s *Store, f Folder, texts map[string]string, drop bool) (changed bool, err error) {
	for range 4 {
		missing, changed, err := s.Commit(f, setOf(texts), drop)
		if err != nil || len(missing) == 0 {
			return changed, err
		}
		for _, text := range texts {
			if sum := Sum([]byte(text)); slices.Contains(missing, sum) {
				if err := s.Stage(sum, []byte(text)); err != nil {
					return false, err
				}
			}
		}
	}
	return false, errors.New("contents went missing again and again")
}

func TestCommit(t *testing.T) {
	s, f := openStore(t)
	game := filepath.Join(s.dir, "a.example", "game")
	for p, text := range map[string]string{games.ScriptFile: "library", ".git/HEAD": "ref", "node_modules/x.js": "x"} {
		p = filepath.Join(game, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(game, "one.js"), old, old); err != nil {
		t.Fatal(err)
	}
	// A set names what is there, what is there under another name, and what is nowhere.
	texts := map[string]string{"one.js": "1", "moved.js": "2", "new/a.js": "new", "new/b.js": "new"}
	missing, changed, err := s.Commit(f, setOf(texts), true)
	if err != nil || changed || len(missing) != 1 || missing[0] != Sum([]byte("new")) {
		t.Fatalf("missing %v, changed %v, %v", missing, changed, err)
	}
	if changed, err = commitAll(s, f, texts, true); err != nil || !changed {
		t.Fatalf("the whole set: changed %v, %v", changed, err)
	}
	got := disk(t, game)
	for p, want := range map[string]string{
		"one.js": "file 1", "moved.js": "file 2", "new/a.js": "file new", "new/b.js": "file new", "sub": "", "sub/two.js": "",
		games.ScriptFile: "file library", ".git/HEAD": "file ref", "node_modules/x.js": "file x",
	} {
		if got[p] != want {
			t.Errorf("%s is %q, want %q", p, got[p], want)
		}
	}
	if info, err := os.Stat(filepath.Join(game, "one.js")); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("a file that is as it was has another time")
	}
	if all, _ := os.ReadDir(filepath.Join(s.dir, "a.example")); len(all) != 1 {
		t.Errorf("a commit left %v beside the game", all)
	}
	if all, _ := os.ReadDir(filepath.Join(s.dir, stageFolder)); len(all) != 0 {
		t.Errorf("a commit left %v staged", all)
	}
	unchanged(t, s.dir, "the same set", func() {
		if changed, err := commitAll(s, f, texts, true); err != nil || changed {
			t.Errorf("the same set: changed %v, %v", changed, err)
		}
	})
	if changed, err := commitAll(s, f, map[string]string{"one.js": "11"}, false); err != nil || !changed {
		t.Fatalf("a set that leaves others: changed %v, %v", changed, err)
	}
	if all, err := s.Manifest(f); err != nil || len(all) != 4 {
		t.Fatalf("others were not left: %+v, %v", all, err)
	}
	if changed, err := commitAll(s, at(t, "new.example", "new"), texts, true); err != nil || !changed {
		t.Fatalf("a new game: changed %v, %v", changed, err)
	}
}

func TestSetsThatAreRefused(t *testing.T) {
	s, f := openStore(t)
	one := Sum([]byte("1"))
	unchanged(t, s.dir, "a refused set", func() {
		for what, c := range map[string]struct {
			set  []File
			drop bool
		}{
			"a path twice":                 {[]File{{Path: "x", SHA256: one}, {Path: "x", SHA256: one}}, true},
			"a file that is a folder":      {[]File{{Path: "x", SHA256: one}, {Path: "x/y", SHA256: one}}, true},
			"one far below":                {[]File{{Path: "x/y/z", SHA256: one}, {Path: "x", SHA256: one}}, true},
			"a file where a folder stays":  {[]File{{Path: "sub", SHA256: one}}, false},
			"a folder where a file stays":  {[]File{{Path: "one.js/x", SHA256: one}}, false},
			"a hash too short":             {[]File{{Path: "x", SHA256: one[:62]}}, true},
			"a hash in capitals":           {[]File{{Path: "x", SHA256: strings.ToUpper(Sum([]byte("2")))}}, true},
			"a hash that is a path":        {[]File{{Path: "x", SHA256: "../../../etc/passwd"}}, true},
			"no hash":                      {[]File{{Path: "x"}}, true},
			"a hash with something behind": {[]File{{Path: "x", SHA256: one + "/x"}}, true},
		} {
			if missing, changed, err := s.Commit(f, c.set, c.drop); !errors.Is(err, ErrSet) {
				t.Errorf("%s came to %v, %v, %v", what, missing, changed, err)
			}
		}
		if err := s.Stage(one, []byte("another")); !errors.Is(err, ErrSet) {
			t.Errorf("a content of another hash came to %v", err)
		}
	})
}

// Contents that nobody commits are bounded, and go.
func TestStagedContentsAreBounded(t *testing.T) {
	s, _ := openStore(t)
	content := make([]byte, games.MaxFileBytes)
	for i := range maxStaged / games.MaxFileBytes {
		content[0], content[1] = byte(i), byte(i>>8)
		if err := s.Stage(Sum(content), content); err != nil {
			t.Fatal(err)
		}
	}
	content[2] = 1
	if err := s.Stage(Sum(content), content); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("one more came to %v", err)
	}
	past := time.Now().Add(-stageTime - time.Minute)
	err := filepath.WalkDir(filepath.Join(s.dir, stageFolder), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(p, past, past)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stage(Sum(content), content); err != nil {
		t.Fatalf("after a while one more came to %v", err)
	}
	if all, _ := os.ReadDir(filepath.Join(s.dir, stageFolder)); len(all) != 1 {
		t.Fatalf("%d contents are staged", len(all))
	}
}

// Whoever opens the folder, as a build does, finds one of the sets whole, while they
// replace each other as fast as they can.
func TestAReaderFindsOneSetWhole(t *testing.T) {
	s, f := openStore(t)
	sets := make([]map[string]string, 4)
	for i := range sets {
		sets[i] = map[string]string{}
		for j := range 8 {
			sets[i][fmt.Sprintf("f%d.js", j)] = fmt.Sprintf("file %d of set %d", j, i)
		}
		sets[i][fmt.Sprintf("only%d.js", i)] = "only here"
	}
	if _, err := commitAll(s, f, sets[0], true); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writers, reader sync.WaitGroup
	for i, set := range sets {
		writers.Go(func() {
			for range 10 {
				if _, err := commitAll(s, f, set, true); err != nil {
					t.Errorf("set %d: %v", i, err)
				}
			}
		})
	}
	reads := 0
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			reads++
			root, err := os.OpenRoot(filepath.Join(s.dir, "a.example", "game"))
			if err != nil {
				t.Errorf("the folder was away: %v", err)
				return
			}
			found := map[string]string{}
			err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				text, err := root.ReadFile(p)
				found[p] = string(text)
				return err
			})
			root.Close()
			// A folder that was replaced while it was read is taken away under the reader;
			// a build finds that the game changed and reads again.
			if err == nil && len(found) == 9 && !slices.ContainsFunc(sets, func(set map[string]string) bool {
				for p, text := range set {
					if found[p] != text {
						return false
					}
				}
				return len(found) == len(set)
			}) {
				t.Errorf("a mix was read: %v", found)
				return
			}
		}
	})
	writers.Wait()
	close(stop)
	reader.Wait()
	t.Logf("%d reads", reads)
	all, err := s.Manifest(f)
	if err != nil || len(all) != 9 {
		t.Fatalf("in the end the folder holds %+v, %v", all, err)
	}
}

// Two programs that commit to one game at once are two commits one after the other,
// whichever is first, and single files between them are whole.
func TestCommitsAndPutsAtOnce(t *testing.T) {
	s, f := openStore(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 10 {
				text := fmt.Sprintf("%d of %d", j, i)
				if _, err := commitAll(s, f, map[string]string{fmt.Sprintf("set%d.js", i): text, "both.js": text}, false); err != nil {
					t.Errorf("committing: %v", err)
				}
				if _, err := s.Put(f, fmt.Sprintf("put%d.js", i), []byte(text), ""); err != nil {
					t.Errorf("putting: %v", err)
				}
				if _, err := s.Manifest(f); err != nil {
					t.Errorf("listing: %v", err)
				}
			}
		})
	}
	all.Wait()
	for i := range 4 {
		for _, p := range []string{"set", "put"} {
			if text, _, err := s.Get(f, fmt.Sprintf("%s%d.js", p, i)); err != nil || string(text) != fmt.Sprintf("9 of %d", i) {
				t.Errorf("%s%d.js is %q, %v", p, i, text, err)
			}
		}
	}
}

// With If-Match, of many that replace one content one does.
func TestOneOfManyThatMatchWrites(t *testing.T) {
	s, f := openStore(t)
	var all sync.WaitGroup
	won := make(chan string, 16)
	for i := range 16 {
		all.Go(func() {
			text := fmt.Sprintf("writer %d", i)
			switch _, err := s.Put(f, "one.js", []byte(text), Match(Sum([]byte("1")))); {
			case err == nil:
				won <- text
			case !errors.Is(err, ErrMatch):
				t.Errorf("putting: %v", err)
			}
		})
	}
	all.Wait()
	close(won)
	text, _, err := s.Get(f, "one.js")
	if first, more := <-won, len(won); err != nil || string(text) != first || more != 0 {
		t.Fatalf("%q was written, %d others won, and the file is %q, %v", first, more, text, err)
	}
}

// TestCommitsThatDied wants no game and nothing of an operator's to be lost, wherever a
// commit was when its process ended.
func TestCommitsThatDied(t *testing.T) {
	const aside, old = ".sync-set-X.game", ".sync-old-X.game"
	for _, c := range []struct {
		name        string
		files, want map[string]string // below the domain
	}{
		{
			"a first one, half written",
			map[string]string{aside + "/one.js": "new"}, map[string]string{},
		}, {
			"half written",
			map[string]string{"game/one.js": "old", "game/.git/HEAD": "ref", aside + "/one.js": "new"},
			map[string]string{"game/one.js": "old", "game/.git/HEAD": "ref"},
		}, {
			"exchanged",
			map[string]string{"game/one.js": "new", aside + "/one.js": "old", aside + "/.git/HEAD": "ref", aside + "/node_modules/x.js": "x", aside + "/.sync-file-1": "left"},
			map[string]string{"game/one.js": "new", "game/.git/HEAD": "ref", "game/node_modules/x.js": "x"},
		}, {
			"the old one taken away, the new one not there yet",
			map[string]string{old + "/one.js": "old", old + "/.git/HEAD": "ref", aside + "/one.js": "new"},
			map[string]string{"game/one.js": "old", "game/.git/HEAD": "ref"},
		}, {
			"the new one in its place, the old one not removed",
			map[string]string{"game/one.js": "new", old + "/one.js": "old", old + "/.git/HEAD": "ref"},
			map[string]string{"game/one.js": "new", "game/.git/HEAD": "ref"},
		}, {
			"a removal",
			map[string]string{".sync-set-X/one.js": "old", ".sync-set-X/.git/HEAD": "ref"}, map[string]string{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			domain := filepath.Join(s.dir, "a.example")
			for p, text := range c.files {
				p = filepath.Join(domain, filepath.FromSlash(p))
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Sweep(); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for p, what := range disk(t, domain) {
				if text, ok := strings.CutPrefix(what, "file "); ok {
					got[filepath.ToSlash(p)] = text
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("swept: %v, want %v", got, c.want)
			}
		})
	}
}

// TestSwap is the exchange of a file system that has none.
func TestSwap(t *testing.T) {
	s, f := openStore(t)
	root, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := commit{root: root, folder: f, domain: "a.example", base: "a.example/game"}
	if err := root.Mkdir("a.example/.sync-set-X.game", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.swap("a.example/.sync-set-X.game"); err != nil {
		t.Fatal(err)
	}
	got := disk(t, filepath.Join(s.dir, "a.example"))
	if got[".sync-set-X.game/one.js"] != "file 1" || got["game/one.js"] != "" {
		t.Errorf("swapped: %v", got)
	}
	if err := c.swap("a.example/.sync-set-none.game"); err == nil {
		t.Error("swapped with what is not there")
	}
	if after := disk(t, filepath.Join(s.dir, "a.example")); !maps.Equal(after, got) {
		t.Errorf("a swap that failed left %v, of %v", after, got)
	}
}
