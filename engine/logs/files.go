package logs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lookEvery = time.Second // at whether the file is still the one of that name
	tellEvery = time.Minute // that lines cannot be written
)

// folderLock keeps other processes from writing into the same files.
type folderLock struct{ dir *os.File }

// lockFolder makes the folder where it is not there and locks it, for this process alone.
func lockFolder(dir string) (*folderLock, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrFolderTaken
		}
		return nil, fmt.Errorf("locking it: %w", err)
	}
	return &folderLock{f}, nil
}

func (l *folderLock) release() { l.dir.Close() }

// growing is a file that is appended to: an *os.File, or a stand-in of tests with a disk
// that is full.
type growing interface {
	io.WriteCloser
	io.ReaderAt
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

func create(path string) (growing, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o640)
}

// files is a log in a folder: a file that grows and those that have.
type files struct {
	name   string
	opts   *Options
	also   *slog.Logger
	create func(path string) (growing, error)
	newest growing // nil while it cannot be opened
	size   int64   // of newest, of whole lines
	born   time.Time
	looked time.Time
	number uint64 // of the newest rotated file
	batch  []byte
	torn   bool // newest may end within a line

	failed struct {
		lines int64 // not written, and not told in the log yet
		told  time.Time
	}
}

func openFiles(name string, o *Options) (*files, error) {
	f := &files{name: name, opts: o, also: slog.New(o.Also), create: create}
	old, err := f.rotated()
	if err != nil {
		return nil, err
	}
	if len(old) > 0 {
		f.number = old[0]
	}
	return f, f.reopen()
}

// path is that of the file that grows.
func (f *files) path() string { return filepath.Join(f.opts.Dir, f.name+".log") }

func (f *files) rotatedPath(n uint64) string {
	return filepath.Join(f.opts.Dir, fmt.Sprintf("%s-%08d.log", f.name, n))
}

// rotated is the numbers of the rotated files, newest first.
func (f *files) rotated() (all []uint64, err error) {
	entries, err := os.ReadDir(f.opts.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text := strings.TrimSuffix(strings.TrimPrefix(e.Name(), f.name+"-"), ".log")
		if n, err := strconv.ParseUint(text, 10, 64); err == nil && f.rotatedPath(n) == filepath.Join(f.opts.Dir, e.Name()) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, nil
}

// reopen opens the file that grows, or makes it.
func (f *files) reopen() error {
	if f.newest != nil {
		f.newest.Close()
		f.newest = nil
	}
	file, err := f.create(f.path())
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", f.path())
	}
	if err != nil {
		file.Close()
		return err
	}
	f.newest, f.size, f.born, f.torn = file, info.Size(), f.opts.Now(), false
	if f.size > 0 {
		f.born = firstTime(file, info.ModTime())
		var last [1]byte
		_, err := file.ReadAt(last[:], f.size-1)
		f.torn = err != nil || last[0] != '\n'
	}
	return nil
}

// firstTime is when a file's first line was logged; other where that is not known.
func firstTime(file io.ReaderAt, other time.Time) time.Time {
	var start [128]byte
	n, _ := file.ReadAt(start[:], 0)
	var when time.Time
	if text, _, ok := cutString(start[:n], timeKey); !ok || when.UnmarshalText(text) != nil {
		return other
	}
	return when
}

// write implements store.
func (f *files) write(lines [][]byte, lost int64) {
	f.failed.lines += lost
	if err := f.append(lines); err != nil {
		f.failed.lines += int64(len(lines))
		f.tell(err)
	}
}

// append writes all of the lines or none.
func (f *files) append(lines [][]byte) error {
	f.batch = f.batch[:0]
	if f.failed.lines > 0 {
		f.batch = append(f.batch, lostLines(f.failed.lines)...)
	}
	for _, line := range lines {
		f.batch = append(f.batch, line...)
	}
	if err := f.prepare(int64(len(f.batch))); err != nil {
		return err
	}
	if f.torn {
		f.batch = slices.Insert(f.batch, 0, '\n')
	}
	n, err := f.newest.Write(f.batch)
	if err != nil {
		if n > 0 && f.newest.Truncate(f.size) != nil {
			f.size += int64(n)
			f.torn = true
		}
		return fmt.Errorf("writing %s: %w", f.path(), err)
	}
	f.size += int64(n)
	f.torn = false
	f.failed.lines = 0
	return nil
}

// prepare sees to it that there is a file with room for n bytes.
func (f *files) prepare(n int64) error {
	now := f.opts.Now()
	if f.newest != nil && now.Sub(f.looked).Abs() >= lookEvery {
		f.looked = now
		if f.moved() {
			f.newest.Close()
			f.newest = nil
		}
	}
	if f.newest == nil {
		if err := f.reopen(); err != nil {
			return fmt.Errorf("opening %s: %w", f.path(), err)
		}
	}
	if f.size == 0 {
		f.born = now
		return nil
	}
	if f.size+n <= f.opts.MaxBytes && now.Sub(f.born) < f.opts.MaxAge {
		return nil
	}
	if err := f.rotate(); err != nil {
		return fmt.Errorf("rotating %s: %w", f.path(), err)
	}
	return nil
}

// moved reports whether somebody else has taken the file away.
func (f *files) moved() bool {
	there, err := os.Stat(f.path())
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	ours, err := f.newest.Stat()
	return err == nil && !os.SameFile(there, ours)
}

// rotate sets the file that grows aside and begins another. The oldest go first, as there
// may be no room for it.
func (f *files) rotate() error {
	old, err := f.rotated()
	if err != nil {
		return err
	}
	for len(old) >= f.opts.Files {
		if err := os.Remove(f.rotatedPath(old[len(old)-1])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		old = old[:len(old)-1]
	}
	if err := os.Rename(f.path(), f.rotatedPath(f.number+1)); err != nil {
		return err
	}
	f.number++
	return f.reopen()
}

// tell says that lines are not written: at once, and now and then as it goes on.
func (f *files) tell(err error) {
	if now := f.opts.Now(); now.Sub(f.failed.told).Abs() >= tellEvery {
		f.failed.told = now
		f.also.Error("log lines are lost: they cannot be written", "log", f.name, "lines", f.failed.lines, "error", err)
	}
}

// open implements store.
func (f *files) open() (reader, error) {
	old, err := f.rotated()
	if err != nil {
		return nil, fmt.Errorf("listing the files of the %s log: %w", f.name, err)
	}
	r := &backward{}
	if f.newest != nil && f.size > 0 {
		// Opened anew and not duplicated: a duplicate would be writable.
		if err := r.add(f.path(), f.size); err != nil {
			r.close()
			return nil, err
		}
	}
	for _, n := range old {
		if err := r.add(f.rotatedPath(n), -1); err != nil {
			r.close()
			return nil, err
		}
	}
	return r, nil
}

// close implements store.
func (f *files) close() {
	if f.newest != nil {
		f.newest.Close()
	}
}
