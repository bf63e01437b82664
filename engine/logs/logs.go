// Package logs keeps the two logs of a box and answers questions about them. The web
// log has a line for each HTTP request and each socket that has ended, the server log
// what the box itself has to say: games that came and went, bodies that failed, workers
// that ended. Lines are JSON objects as log/slog writes them, with the time and the level
// first; durations in them are nanoseconds.
//
//	slog.Logger --> Stream.Handler --> bounded queue --> one goroutine
//	(any loop)       never waits        full: lost,        |-- DIR/web.log, DIR/web-00000041.log, ...
//	                                    counted, told      |   or, without a folder, memory
//	                                                       |-- followers, each with a queue of its own
//	Query, Follow --- ask the goroutine what there is ---->|
//	      '-- read it themselves, from the end, file by file
//
// # Nobody waits for a disk
//
// Loops log. So a line is copied into a queue, and where that is full it is dropped and
// counted; a line that says how many stands in the place of those. A disk that is full
// or gone costs lines in the same way: what was written of a batch is taken back, so that
// no half line stays, each later batch tries again, and the first that succeeds says how
// many lines there should have been. Until then the failure is told where Options.Also
// goes, now and then.
//
// # Files
//
// The newest lines are in web.log and server.log. A file that is full or old is renamed,
// with a number that counts up, so that the order does not hang on the clock; the oldest
// go. A file that somebody else has moved away is made anew. One process at a time has a
// folder: it is locked.
//
// # Questions
//
// The goroutine answers a question in its turn: it opens the files as they are and notes
// the length. So a question sees all that was logged before it, no rotation can come
// between, and who follows misses nothing and gets nothing twice. What is read is read by
// whoever asks, backwards and in pieces, and only as far as needed.
package logs

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options of the logs. The zero value of a field means its default.
type Options struct {
	Dir      string        // where the files are; it is made where it is not there. Empty: the newest lines are kept in memory
	Level    slog.Level    // least severe lines of the server log; the web log has all
	MaxBytes int64         // of a file before it is rotated; 16 MiB
	MaxAge   time.Duration // likewise, from its first line on; a day
	Files    int           // rotated files kept of each log; 9
	Memory   int           // bytes of lines kept of each log where there is no Dir; 1 MiB

	// Also takes the server log's lines, too, those of the web log where there is no Dir,
	// and says when lines cannot be written. It must not wait, nor lead back here. Nil:
	// nobody does.
	Also slog.Handler

	Now func() time.Time // for the age of files; time.Now
}

// The defaults of Options.
const (
	DefaultMaxBytes = 16 << 20
	DefaultMaxAge   = 24 * time.Hour
	DefaultFiles    = 9
	DefaultMemory   = 1 << 20
)

func (o Options) filled() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.Files <= 0 {
		o.Files = DefaultFiles
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Also == nil {
		o.Also = slog.DiscardHandler
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Logs are the two logs of a box. The methods of both may be called from any goroutine.
type Logs struct {
	Web    *Stream
	Server *Stream

	web, server *slog.Logger
	lock        *folderLock // nil without a folder
}

// ErrFolderTaken is that another process writes its logs into the folder.
var ErrFolderTaken = errors.New("another process writes its logs there")

// Open begins to log. A folder that cannot be written to is an error now, and costs lines
// later.
func Open(o Options) (*Logs, error) {
	o = o.filled()
	l := &Logs{}
	if o.Dir == "" {
		l.Web, l.Server = startStream(newMemory(o.Memory)), startStream(newMemory(o.Memory))
		l.web = slog.New(slog.NewMultiHandler(l.Web.handler(slog.LevelDebug), o.Also))
	} else {
		lock, err := lockFolder(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("opening the folder of the logs, %s: %w", o.Dir, err)
		}
		l.lock = lock
		web, err := openFiles("web", &o)
		if err != nil {
			l.lock.release()
			return nil, fmt.Errorf("opening the web log: %w", err)
		}
		server, err := openFiles("server", &o)
		if err != nil {
			web.close()
			l.lock.release()
			return nil, fmt.Errorf("opening the server log: %w", err)
		}
		l.Web, l.Server = startStream(web), startStream(server)
		l.web = slog.New(l.Web.handler(slog.LevelDebug))
	}
	l.server = slog.New(slog.NewMultiHandler(l.Server.handler(o.Level), o.Also))
	return l, nil
}

// WebLogger writes to the web log. A line about a game has its domain/game under GameKey.
func (l *Logs) WebLogger() *slog.Logger { return l.web }

// ServerLogger writes to the server log. Lines about games are as in the web log.
func (l *Logs) ServerLogger() *slog.Logger { return l.server }

// GameKey is the attribute that Filter.Game looks at.
const GameKey = "game"

// Stream returns the log of that name, web or server; nil if there is none.
func (l *Logs) Stream(name string) *Stream {
	switch name {
	case "web":
		return l.Web
	case "server":
		return l.Server
	}
	return nil
}

// Close writes what is left, as far as that goes in a short while, and ends the followers.
// What is logged later is lost.
func (l *Logs) Close() {
	l.Web.close()
	l.Server.close()
	if l.lock != nil {
		l.lock.release()
	}
}
