package files

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/games"
)

// stageFolder holds contents by their hash.
const stageFolder = ".staged"

// How much may be staged, in bytes, and for how long.
const (
	maxStaged = 4 * games.MaxGameBytes
	stageTime = 10 * time.Minute
)

// Stage keeps a content for a commit that is to come, for ten minutes at least. sum is
// its sha256 in hexadecimal; another one is ErrSet. content stays the caller's.
func (s *Store) Stage(sum string, content []byte) error {
	if len(content) > games.MaxFileBytes {
		return fmt.Errorf("the content: %w: a file has at most %d bytes", ErrTooLarge, games.MaxFileBytes)
	}
	if real := Sum(content); real != sum {
		return fmt.Errorf("the content: %w: its sha256 is %s", ErrSet, real)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(stageFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return failed("staging a content", err)
	}
	if err := through(root, stageFolder); err != nil {
		return err
	}
	total, err := expire(root)
	if err != nil {
		return fmt.Errorf("looking at what is staged: %w", err)
	}
	if total+int64(len(content)) > maxStaged {
		return fmt.Errorf("what is staged: %w: commit what has been sent, or wait %v", ErrTooLarge, stageTime)
	}
	if err := s.replace(root, path.Join(stageFolder, sum), content); err != nil {
		return failed("staging a content", err)
	}
	return nil
}

// expire removes what nobody has committed, and tells how many bytes are left.
func expire(root *os.Root) (total int64, err error) {
	entries, err := fs.ReadDir(root.FS(), stageFolder)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		// A clock that was set back would keep a file for longer than anyone wants it.
		if age := time.Since(info.ModTime()); age > stageTime || age < -stageTime {
			if err := root.Remove(path.Join(stageFolder, e.Name())); err != nil {
				return 0, err
			}
			continue
		}
		total += info.Size()
	}
	return total, nil
}

// Commit makes the files of a folder those of a set, all in one step; other files stay, or
// go if drop is set. Contents that neither the folder has nor anybody has staged are
// missing: nothing has been done then. changed tells whether anything is another.
func (s *Store) Commit(f Folder, set []File, drop bool) (missing []string, changed bool, err error) {
	if err := f.checkSet(set); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.open()
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	domain, base, err := f.place(root)
	if err != nil {
		return nil, false, err
	}
	now, err := f.hashed(root, base)
	if err != nil {
		return nil, false, err
	}
	c := commit{store: s, root: root, folder: f, domain: domain, base: base, at: map[string]string{}, sizes: map[string]int64{}, was: map[string]string{}}
	for _, file := range now {
		c.at[file.SHA256], c.sizes[file.SHA256] = path.Join(base, file.Path), file.Size
		c.was[file.Path] = file.SHA256
	}
	if missing, err = c.missing(set); err != nil || len(missing) > 0 {
		return missing, false, err
	}
	if changed, err = c.plan(set, now, drop); err != nil {
		return nil, false, err
	}
	if changed {
		if err := c.run(); err != nil {
			return nil, false, failed("committing "+f.String(), err)
		}
	}
	for _, file := range set {
		_ = root.Remove(path.Join(stageFolder, file.SHA256)) // most were not there
	}
	return nil, changed, nil
}

// checkSet is what can be said of a set without a look at the disk.
func (f Folder) checkSet(set []File) error {
	if len(set) > games.MaxFiles {
		return f.limits(len(set), 0)
	}
	for _, file := range set {
		if err := f.checkPath(file.Path); err != nil {
			return err
		}
		if raw, err := hex.DecodeString(file.SHA256); err != nil || len(raw) != 32 || strings.ToLower(file.SHA256) != file.SHA256 {
			return fmt.Errorf("%s: %w: its sha256 is not 64 digits of 0-9 and a-f", file.Path, ErrSet)
		}
	}
	return contradiction(set)
}

// contradiction reports ErrSet where a path is there twice, or is a file and a folder.
func contradiction(set []File) error {
	taken := map[string]bool{}
	for _, file := range set {
		if taken[file.Path] {
			return fmt.Errorf("%s: %w: it is named twice", file.Path, ErrSet)
		}
		taken[file.Path] = true
	}
	for p := range taken {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if taken[dir] {
				return fmt.Errorf("%s: %w: it is a file and the folder of %s", dir, ErrSet, p)
			}
		}
	}
	return nil
}

// commit is one whole set on its way to the disk.
type commit struct {
	store        *Store
	root         *os.Root
	folder       Folder
	domain, base string            // in root
	at           map[string]string // where a content is in root, by its hash
	sizes        map[string]int64  // and its bytes
	was          map[string]string // the hash of each path in the folder now
	want         []File            // and what is to be there
	done         bool              // the new folder is in its place
}

// missing tells which contents are nowhere, in the order of the set.
func (c *commit) missing(set []File) (missing []string, err error) {
	asked := map[string]bool{}
	for _, file := range set {
		sum := file.SHA256
		if _, there := c.at[sum]; there || asked[sum] {
			continue
		}
		asked[sum] = true
		staged := path.Join(stageFolder, sum)
		switch info, err := c.root.Lstat(staged); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, sum)
		case err != nil:
			return nil, fmt.Errorf("looking at what is staged: %w", err)
		case info.Mode().IsRegular():
			c.at[sum], c.sizes[sum] = staged, info.Size()
		}
	}
	return missing, nil
}

// plan works out what the folder is to hold, and whether that is another.
func (c *commit) plan(set, now []File, drop bool) (changed bool, err error) {
	c.want = slices.Clone(set)
	named := map[string]bool{}
	for _, file := range set {
		named[file.Path] = true
		changed = changed || c.was[file.Path] != file.SHA256
	}
	for _, file := range now {
		switch {
		case named[file.Path]:
		case drop:
			changed = true
		default:
			c.want = append(c.want, file)
		}
	}
	if err := contradiction(c.want); err != nil {
		return false, err
	}
	var total int64
	for _, file := range c.want {
		total += c.sizes[file.SHA256]
	}
	return changed, c.folder.limits(len(c.want), total)
}

// run makes the folder anew beside the one that is there and exchanges the two.
func (c *commit) run() (err error) {
	made, err := mkdirs(c.root, c.domain)
	aside := path.Join(c.domain, setTemp+rand.Text()+"."+c.folder.name)
	defer func() {
		if err != nil && !c.done {
			_ = c.root.RemoveAll(aside)
			unmake(c.root, made)
		}
	}()
	if err != nil {
		return err
	}
	if err := c.root.Mkdir(aside, 0o755); err != nil {
		return err
	}
	folders := map[string]bool{aside: true}
	for _, file := range c.want {
		full := path.Join(aside, file.Path)
		fresh, err := mkdirs(c.root, path.Dir(full))
		if err != nil {
			return err
		}
		for _, d := range fresh {
			folders[d] = true
		}
		if err := c.bring(file, full); err != nil {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	if err := c.keepGenerated(aside); err != nil {
		return err
	}
	for d := range folders {
		if err := syncFolder(c.root, d); err != nil {
			return err
		}
	}
	return c.exchange(aside)
}

// bring puts a file of the set at full. One that is as it was is the same file still, with
// its time, so that a build that looks at times finds it unchanged.
func (c *commit) bring(file File, full string) error {
	if c.was[file.Path] == file.SHA256 && c.root.Link(path.Join(c.base, file.Path), full) == nil {
		return nil
	}
	content, err := readPlain(c.root, c.at[file.SHA256])
	if err != nil {
		return err
	}
	if Sum(content) != file.SHA256 {
		return errors.New("the file was written by somebody else in the meantime; commit again")
	}
	return c.store.create(c.root, full, content)
}

// keepGenerated takes what the build has written along: players load it until the next
// build is through.
func (c *commit) keepGenerated(aside string) error {
	if c.folder.Shared() {
		return nil
	}
	for _, name := range []string{games.ScriptFile, games.MapFile, games.TypesFile, games.RulesFile} {
		from := path.Join(c.base, name)
		info, err := c.root.Lstat(from)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := c.root.Link(from, path.Join(aside, name)); err == nil {
			continue
		}
		text, err := c.root.ReadFile(from)
		if err != nil {
			return err
		}
		if err := c.store.create(c.root, path.Join(aside, name), text); err != nil {
			return err
		}
	}
	return nil
}

// exchange puts the new folder in the old one's place and removes the old one. What a
// build passes over, such as .git, is an operator's and moves along.
func (c *commit) exchange(aside string) error {
	if _, err := c.root.Lstat(c.base); errors.Is(err, fs.ErrNotExist) {
		if err := c.root.Rename(aside, c.base); err != nil {
			return err
		}
		c.done = true
		return syncFolder(c.root, c.domain)
	}
	dir, err := c.root.Open(c.domain)
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.Renameat2(fd, path.Base(aside), fd, c.folder.name, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		// A file system that cannot exchange: for a moment there is no folder, which no
		// build takes for a removal before it has seen it twice.
		err = c.swap(aside)
	}
	if err != nil {
		return fmt.Errorf("exchanging the folders: %w", err)
	}
	c.done = true
	if err := moveAlong(c.root, aside, c.base); err != nil {
		return err
	}
	return errors.Join(syncFolder(c.root, c.base), dir.Sync(), c.root.RemoveAll(aside))
}

// moveAlong brings what is an operator's from a folder that was replaced to the one that is
// in its place.
func moveAlong(root *os.Root, old, base string) error {
	entries, err := fs.ReadDir(root.FS(), old)
	for _, e := range entries {
		name := e.Name()
		if (name[0] == '.' && !strings.HasPrefix(name, fileTemp)) || name == "node_modules" {
			err = errors.Join(err, root.Rename(path.Join(old, name), path.Join(base, name)))
		}
	}
	if err != nil {
		return fmt.Errorf("moving hidden files along from %s: %w", old, err)
	}
	return nil
}

// restore ends a commit that a process died in the middle of. left is the folder that was
// to be removed by it: the old one, or a new one that never came to its place, in which
// nothing is an operator's.
func restore(root *os.Root, left string) error {
	domain, name := path.Split(left)
	_, game, ofGame := strings.Cut(name[1:], ".")
	if !ofGame { // of a folder that was to go
		return root.RemoveAll(left)
	}
	base := path.Join(domain, game)
	switch _, err := root.Lstat(base); {
	case err == nil:
		if err := moveAlong(root, left, base); err != nil {
			return err // and it stays
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case strings.HasPrefix(name, oldTemp):
		return root.Rename(left, base)
	}
	return root.RemoveAll(left)
}

// swap is an exchange in three steps. A process that dies after the first has left the old
// folder under a name that tells whose place it goes back to.
func (c *commit) swap(aside string) error {
	third := path.Join(c.domain, oldTemp+rand.Text()+"."+c.folder.name)
	if err := c.root.Rename(c.base, third); err != nil {
		return err
	}
	if err := c.root.Rename(aside, c.base); err != nil {
		return errors.Join(err, c.root.Rename(third, c.base))
	}
	return c.root.Rename(third, aside)
}
