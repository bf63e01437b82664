// Package files is the games root as a store: what the API reads and writes there. It
// knows folders and files, and nothing of what they say.
//
//	<root>/<domain>/<game>/        a game's source and, written by the build, its library
//	<root>/<domain>/_shared/       what the domain's games import
//	<root>/.staged/<sha256>        contents that wait for the commit that names them
//
// A domain's folder stays when its last game is removed: it is what tells that the box is
// meant for the domain, and certificates are given for.
//
// A Folder is one of the first two. What is in it is its manifest: the regular files,
// less what a build passes over (hidden names, node_modules) and what it writes itself.
//
// # Writes
//
// Every write is one rename, so that whoever reads a folder, a build above all, finds the
// old or the new and nothing between, and so does the machine after it lost its power:
//
//	Put      content -> .sync-file-x, fsync ----------------> rename to the path, fsync
//	Commit   set -> all contents there? --no--> missing hashes; Stage each; Commit again
//	                     | yes
//	                     v
//	         .sync-set-x: kept files are linked, new ones written, fsync
//	                     |
//	                     v
//	         one exchange of .sync-set-x with the folder, fsync; what was there is removed
//
// When there is no space left, or anything else fails, the new names are taken away again
// and the old files are as they were. What a crash leaves behind, Sweep removes or puts back.
//
// # What is refused
//
// Paths are relative, with forward slashes, and lead through folders only: no "..", no
// empty or hidden element, no NUL or other control byte, no backslash, no symbolic link on
// the way, no name that a build writes. The operations go through os.Root besides, which
// holds should a link be put on the way in the meantime. A file has at most 1 MiB, a
// folder 16 MiB and 1024 files, as the build's limits are.
package files

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"gamehoster/games"
)

// What a caller decides by. What is not there is fs.ErrNotExist, and every other error is
// the machine's.
var (
	ErrName     = errors.New("not allowed")              // of a domain, game or path
	ErrSet      = errors.New("the set is contradictory") // it names a path twice, say
	ErrMatch    = errors.New("the file is another one by now")
	ErrTooLarge = errors.New("too large")
	ErrFull     = errors.New("the disk is full") // nothing has changed
)

// Folder is a place for files: a game's, or a domain's shared one.
type Folder struct {
	domain, name string
}

// At is the folder of a game, or with games.SharedFolder for its name that of what the
// domain's games share. The error is ErrName.
func At(domain, game string) (Folder, error) {
	d, ok := games.Domain(domain)
	if !ok {
		return Folder{}, fmt.Errorf("the domain %s: %w: a domain is a host name without port, which does not begin with a dot or _", show(domain), ErrName)
	}
	if game != games.SharedFolder && !games.ValidGameName(game) {
		return Folder{}, fmt.Errorf("the game %s: %w: a game's name has at most 64 letters, digits, dots, - and _, does not begin with a dot or _, and is not api or internal", show(game), ErrName)
	}
	return Folder{d, game}, nil
}

// Domain is the folder's domain as hosts are compared.
func (f Folder) Domain() string { return f.domain }

// Game is the folder's game; empty for a shared folder.
func (f Folder) Game() string {
	if f.Shared() {
		return ""
	}
	return f.name
}

// Shared reports whether it is the folder of what a domain's games share.
func (f Folder) Shared() bool { return f.name == games.SharedFolder }

// String is domain/game.
func (f Folder) String() string { return f.domain + "/" + f.name }

// File is one file of a folder.
type File struct {
	Path   string `json:"path"` // relative to the folder, with forward slashes
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// What a path may be at most, in bytes, and how deep.
const (
	maxPath    = 512
	maxElement = 200 // room for a temporary name beside it
	maxDepth   = 16
)

// maxListed bounds what is looked through in a folder that something else has filled.
const maxListed = 16 * games.MaxFiles

// Prefixes of names that exist for the length of a write.
const (
	fileTemp = ".sync-file-"
	setTemp  = ".sync-set-" // of a whole folder; of a commit, a dot and the folder's name follow
	oldTemp  = ".sync-old-" // of the folder that a commit replaces, likewise
)

// checkPath is what keeps a path inside its folder and out of what is not the caller's.
func (f Folder) checkPath(p string) error {
	refuse := func(why string) error { return fmt.Errorf("the path %s: %w: %s", show(p), ErrName, why) }
	switch {
	case p == "" || p == ".":
		return refuse("it is empty")
	case len(p) > maxPath:
		return refuse(fmt.Sprintf("it has more than %d bytes", maxPath))
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd || r == '\\' }):
		return refuse("it holds a control byte, a backslash or what is no UTF-8")
	case p[0] == '/':
		return refuse("it is absolute; paths begin in the game's folder")
	case !fs.ValidPath(p):
		return refuse("it has an empty element, . or ..")
	case strings.Count(p, "/") >= maxDepth:
		return refuse(fmt.Sprintf("it is more than %d folders deep", maxDepth))
	case !f.Shared() && games.Generated(p):
		return refuse("the server writes this file itself")
	}
	for e := range strings.SplitSeq(p, "/") {
		switch {
		case e[0] == '.' || e == "node_modules":
			return refuse("games have no hidden files and no node_modules")
		case len(e) > maxElement:
			return refuse(fmt.Sprintf("a name in it has more than %d bytes", maxElement))
		}
	}
	return nil
}

// show is a stranger's text as a message takes it.
func show(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// Sum is the hexadecimal sha256 of a content.
func Sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// Store is a games root. Its methods may be called from any goroutine; a write has the
// store to itself.
type Store struct {
	dir string
	mu  sync.RWMutex

	// write fills a file that has just been made; tests make it fail.
	write func(f *os.File, content []byte) error
}

// Open is the store of a games root, which has to be there.
func Open(dir string) (*Store, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the games root: %w", err)
	}
	s := &Store{dir: full, write: writeAndSync}
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	return s, root.Close()
}

// Sweep removes what a process that died in the middle of a write has left, and what is
// staged; a folder that was about to be replaced is put back, and what is an operator's in
// one that was, moves along. It belongs to the start of a process that has the root to itself.
func (s *Store) Sweep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	return sweep(root)
}

func writeAndSync(f *os.File, content []byte) error {
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// open opens the root for one operation: it may have been moved and put anew since.
func (s *Store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("opening the games root: %w", err)
	}
	return root, nil
}

// sweep removes temporary names of the folders and what is staged.
func sweep(root *os.Root) error {
	var left, sets []string
	err := fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch name := path.Base(p); {
		case err != nil || p == ".":
			return nil // an unreadable folder is the build's to complain of
		case strings.HasPrefix(name, oldTemp) && path.Dir(path.Dir(p)) == ".":
			sets = slices.Insert(sets, 0, p) // before the new one that was to be in its place
		case strings.HasPrefix(name, setTemp):
			sets = append(sets, p)
		case p == stageFolder || strings.HasPrefix(name, fileTemp):
			left = append(left, p)
		case name[0] != '.' && name != "node_modules":
			return nil
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	for _, p := range left {
		err = errors.Join(err, root.RemoveAll(p))
	}
	for _, p := range sets {
		err = errors.Join(err, restore(root, p))
	}
	if err != nil {
		return fmt.Errorf("sweeping the games root: %w", err)
	}
	return nil
}

// place is the folder's domain and the folder itself, as paths in root. A domain's folder
// may be spelt otherwise than hosts are compared.
func (f Folder) place(root *os.Root) (domain, base string, err error) {
	domain = f.domain
	if _, err := root.Lstat(domain); errors.Is(err, fs.ErrNotExist) {
		entries, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			return "", "", fmt.Errorf("reading the games root: %w", err)
		}
		for _, e := range entries {
			if d, ok := games.Domain(e.Name()); ok && d == f.domain && e.IsDir() {
				domain = e.Name()
				break
			}
		}
	}
	base = path.Join(domain, f.name)
	return domain, base, through(root, base)
}

// through reports ErrName where something on the way to p, or p itself, is there and is no
// folder.
func through(root *os.Root, p string) error {
	for i := 0; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		info, err := root.Lstat(p[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("looking at %s: %w", p[:i], err)
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s: %w: it is a symbolic link", p[:i], ErrName)
		case !info.IsDir():
			return fmt.Errorf("%s: %w: it is a file and no folder", p[:i], ErrName)
		}
	}
	return nil
}

// list calls visit for each file of the folder at base. Paths are relative to it. One that
// is not there has none.
func (f Folder) list(root *os.Root, base string, visit func(p string, info fs.FileInfo) error) error {
	sub, err := fs.Sub(root.FS(), base)
	if err != nil {
		return err
	}
	seen := 0
	return fs.WalkDir(sub, ".", func(p string, e fs.DirEntry, err error) error {
		seen++
		switch name := path.Base(p); {
		case p == "." && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil:
			return fmt.Errorf("reading %s/%s: %w", f, p, err)
		case p == ".":
			return nil
		case seen > maxListed:
			return fmt.Errorf("%s: %w: it holds more than %d files", f, ErrTooLarge, maxListed)
		case name[0] == '.' || name == "node_modules":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular() || !f.Shared() && games.Generated(p):
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading %s/%s: %w", f, p, err)
		}
		return visit(p, info)
	})
}

// hashed is list with what the files say, in the order of paths.
func (f Folder) hashed(root *os.Root, base string) (all []File, err error) {
	all = []File{}
	err = f.list(root, base, func(p string, _ fs.FileInfo) error {
		file, err := root.Open(path.Join(base, p))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading %s/%s: %w", f, p, err)
		}
		defer file.Close()
		h := sha256.New()
		n, err := io.Copy(h, file)
		if err != nil {
			return fmt.Errorf("reading %s/%s: %w", f, p, err)
		}
		all = append(all, File{p, n, hex.EncodeToString(h.Sum(nil))})
		return nil
	})
	slices.SortFunc(all, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return all, err
}

// Manifest lists a folder's files in the order of paths; fs.ErrNotExist where there is no
// such folder.
func (s *Store) Manifest(f Folder) ([]File, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	_, base, err := f.place(root)
	if err != nil {
		return nil, err
	}
	if _, err := root.Lstat(base); err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return f.hashed(root, base)
}

// Get reads a file.
func (s *Store) Get(f Folder, p string) (content []byte, file File, err error) {
	if err := f.checkPath(p); err != nil {
		return nil, File{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	root, err := s.open()
	if err != nil {
		return nil, File{}, err
	}
	defer root.Close()
	_, base, err := f.place(root)
	if err == nil {
		content, err = readPlain(root, path.Join(base, p))
	}
	return content, File{p, int64(len(content)), Sum(content)}, err
}

// readPlain reads a regular file that no link is on the way to.
func readPlain(root *os.Root, full string) ([]byte, error) {
	if err := through(root, path.Dir(full)); err != nil {
		return nil, err
	}
	info, err := root.Lstat(full)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: it is no regular file", full, ErrName)
	case info.Size() > games.MaxFileBytes:
		return nil, fmt.Errorf("%s: %w: it has %d bytes of at most %d", full, ErrTooLarge, info.Size(), games.MaxFileBytes)
	}
	file, err := root.Open(full)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, games.MaxFileBytes))
}

// Match is what a caller takes a file to be before it is written: "" for anything, "*" for
// one that is there, else its sha256 in hexadecimal.
type Match string

// check compares the file at full with what it is taken to be.
func (m Match) check(root *os.Root, full string) error {
	if m == "" {
		return nil
	}
	old, err := readPlain(root, full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: it is not there", full, ErrMatch)
	case err != nil:
		return err
	}
	if sum := Sum(old); m != "*" && string(m) != sum {
		return fmt.Errorf("%s: %w: its sha256 is %s", full, ErrMatch, sum)
	}
	return nil
}

// Put writes a file, with the folders that lead to it. content stays the caller's.
func (s *Store) Put(f Folder, p string, content []byte, match Match) (File, error) {
	if err := f.checkPath(p); err != nil {
		return File{}, err
	}
	if len(content) > games.MaxFileBytes {
		return File{}, fmt.Errorf("%s: %w: a file has at most %d bytes", p, ErrTooLarge, games.MaxFileBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.open()
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	_, base, err := f.place(root)
	if err != nil {
		return File{}, err
	}
	full := path.Join(base, p)
	if err := writable(root, full); err != nil {
		return File{}, err
	}
	if err := match.check(root, full); err != nil {
		return File{}, err
	}
	if err := f.room(root, base, p, int64(len(content))); err != nil {
		return File{}, err
	}
	made, err := mkdirs(root, path.Dir(full))
	if err == nil {
		err = s.replace(root, full, content)
	}
	if err != nil {
		unmake(root, made)
		return File{}, failed("writing "+full, err)
	}
	return File{p, int64(len(content)), Sum(content)}, nil
}

// writable reports ErrName where a file cannot be at full.
func writable(root *os.Root, full string) error {
	if err := through(root, path.Dir(full)); err != nil {
		return err
	}
	info, err := root.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at %s: %w", full, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w: it is a symbolic link", full, ErrName)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w: it is a folder and no file", full, ErrName)
	}
	return nil
}

// room reports ErrTooLarge where the folder would be past its limits with p of size bytes.
func (f Folder) room(root *os.Root, base, p string, size int64) error {
	n, total := 1, size
	err := f.list(root, base, func(q string, info fs.FileInfo) error {
		if q != p {
			n++
			total += info.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.limits(n, total)
}

func (f Folder) limits(files int, bytes int64) error {
	switch {
	case files > games.MaxFiles:
		return fmt.Errorf("%s: %w: a folder has at most %d files", f, ErrTooLarge, games.MaxFiles)
	case bytes > games.MaxGameBytes:
		return fmt.Errorf("%s: %w: a folder's files have at most %d bytes together", f, ErrTooLarge, games.MaxGameBytes)
	}
	return nil
}

// Delete removes a file, and the folders inside f that are empty then.
func (s *Store) Delete(f Folder, p string, match Match) error {
	if err := f.checkPath(p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	_, base, err := f.place(root)
	if err != nil {
		return err
	}
	full := path.Join(base, p)
	if err := writable(root, full); err != nil {
		return err
	}
	if err := match.check(root, full); err != nil {
		return err
	}
	if err := root.Remove(full); err != nil {
		return err
	}
	dir := path.Dir(full)
	for ; dir != base; dir = path.Dir(dir) {
		if root.Remove(dir) != nil {
			break // it holds something yet
		}
	}
	return syncFolder(root, dir)
}

// Remove takes a whole folder away, in one step to whoever looks.
func (s *Store) Remove(f Folder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.open()
	if err != nil {
		return err
	}
	defer root.Close()
	domain, base, err := f.place(root)
	if err != nil {
		return err
	}
	aside := path.Join(domain, setTemp+rand.Text())
	if err := root.Rename(base, aside); err != nil {
		return fmt.Errorf("removing %s: %w", f, err)
	}
	if err := errors.Join(syncFolder(root, domain), root.RemoveAll(aside)); err != nil {
		return fmt.Errorf("removing %s: %w", f, err)
	}
	return nil
}

// replace puts content at full in one step.
func (s *Store) replace(root *os.Root, full string, content []byte) error {
	dir := path.Dir(full)
	temp := path.Join(dir, fileTemp+rand.Text())
	if err := s.create(root, temp, content); err != nil {
		return err
	}
	if err := root.Rename(temp, full); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return syncFolder(root, dir)
}

// create makes a file that is on the disk when it returns, or none.
func (s *Store) create(root *os.Root, full string, content []byte) error {
	file, err := root.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = s.write(file, content)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = root.Remove(full)
	}
	return err
}

// mkdirs makes the folders that lead to dir and tells which it made, outermost first.
func mkdirs(root *os.Root, dir string) (made []string, err error) {
	for i := 0; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		switch err := root.Mkdir(dir[:i], 0o755); {
		case err == nil:
			made = append(made, dir[:i])
		case !errors.Is(err, fs.ErrExist):
			return made, err
		}
	}
	for _, d := range made {
		if err := syncFolder(root, path.Dir(d)); err != nil {
			return made, err
		}
	}
	return made, nil
}

func unmake(root *os.Root, made []string) {
	for _, d := range slices.Backward(made) {
		_ = root.Remove(d) // one that is not empty any more stays
	}
}

// syncFolder brings a folder's names to the disk.
func syncFolder(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// failed is the error of a write.
func failed(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s: %w: %w", doing, ErrFull, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
