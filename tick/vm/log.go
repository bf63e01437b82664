package vm

import (
	"github.com/tetratelabs/wazero/api"

	"gamehoster/games/body"
)

// Log is what bodies write with log(). The module bounds it: what one tick writes
// past the size of its area is counted and dropped.
type Log struct {
	area       []byte
	used, lost api.Global
}

// Log gives the log of a machine; nil where the game's bodies do not log. It reads
// the machine's memory and goes with it.
func (m *Machine) Log() *Log {
	at, used, lost := m.mod.ExportedGlobal("log"), m.mod.ExportedGlobal("log_used"), m.mod.ExportedGlobal("log_lost")
	if at == nil || used == nil || lost == nil {
		return nil
	}
	area, ok := m.mem.Read(uint32(at.Get()), body.LogAreaSize)
	if !ok {
		return nil
	}
	return &Log{area: area, used: used, lost: lost}
}

// Records are those that the last Tick or Start wrote, also if it ended in a fault,
// for body.Program.ReadLog, and how many more there would have been. They are live
// memory: the next Tick or Start writes over them.
func (l *Log) Records() (area []byte, lost int) {
	n := min(uint32(l.used.Get()), uint32(len(l.area)))
	return l.area[:n], int(uint32(l.lost.Get()))
}
