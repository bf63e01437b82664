package control

import (
	"encoding/gob"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop/transport"
	"gamehoster/engine/sandbox"
	"gamehoster/engine/worker"
	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// Game is what a worker process runs. It gets it whole: the files that the game was made
// of may be others by then, and a worker is to need no files.
type Game struct {
	Number  uint64 // upper bits of its reservations' numbers
	Name    string // domain/game, for the log
	Hash    uint64 // of the definition
	Def     *schema.Definition
	Program *body.Program
	Options Options
}

// Options say how a worker process runs.
type Options struct {
	Transport transport.Name
	Hashes    int           // how many state hashes of an instance it keeps
	Orphaned  time.Duration // how long its players play on when the backend is gone
	Level     slog.Level    // least severe lines that it logs
	Sandbox   sandbox.Mode
}

// maxGame is the most bytes of a Game: far more than a definition and a program that
// passed the checks can have.
const maxGame = 256 << 20

// Seal writes a game into a file in memory that nobody can change any more, and which is
// gone when the last descriptor of it is closed.
func (g *Game) Seal() (*os.File, error) {
	fd, err := unix.MemfdCreate("gamehoster game", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "game "+g.Name)
	if err := gob.NewEncoder(f).Encode(g); err != nil {
		f.Close()
		return nil, fmt.Errorf("writing the game %s: %w", g.Name, err)
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("sealing the game %s: %w", g.Name, err)
	}
	return f, nil
}

// ReadGame reads what Seal has written. The file's position, which all that have the
// file share, is left alone.
func ReadGame(f *os.File) (*Game, error) {
	g := &Game{}
	if err := gob.NewDecoder(io.NewSectionReader(f, 0, maxGame)).Decode(g); err != nil {
		return nil, fmt.Errorf("reading the game: %w", err)
	}
	if g.Def == nil || g.Program == nil {
		return nil, fmt.Errorf("reading the game %s: it has no definition, or no program", g.Name)
	}
	return g, nil
}

// Report is what a worker process tells of itself when it is asked, in JSON.
type Report struct {
	Transport transport.Name
	Instances []worker.InstanceInfo
	Faults    []worker.FaultInfo
}
