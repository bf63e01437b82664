package body

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"

	"gamehoster/games/body/internal/rt"
	"gamehoster/games/diag"
)

// Log is a log() in the bodies. What it writes when it runs is a record in the
// server module's memory: the module exports "log", the address of an area, the
// mutable globals "log_used", how many bytes of it records take, and "log_lost", how
// many records did not fit. They begin anew with each tick and each start. A module
// whose bodies do not log has none of them.
type Log struct {
	At    diag.Position
	Parts []LogPart
}

// LogPart is a text, or the place of a value.
type LogPart struct {
	Text string
	Kind LogKind
}

// LogKind is what a LogPart is.
type LogKind uint8

const (
	LogText LogKind = iota
	LogNumber
	LogBool
	LogStr
)

// LogAreaSize is the size of the area that records are in.
const LogAreaSize = rt.LogSize

// LogLine is what one log() wrote.
type LogLine struct {
	At    diag.Position
	Body  uint32 // body number
	Actor uint32 // id of the object whose body it was; 0 for the instance
	Text  string // numbers as JavaScript writes them
}

var errRecord = errors.New("a record of the log is malformed")

// ReadLog gives the lines of the used part of a log area.
func (p *Program) ReadLog(area []byte) (lines []LogLine, err error) {
	for len(area) > 0 {
		if len(area) < rt.LogHeader {
			return lines, errRecord
		}
		size := binary.LittleEndian.Uint32(area)
		site := binary.LittleEndian.Uint32(area[4:])
		if size < rt.LogHeader || int64(size) > int64(len(area)) || int64(site) >= int64(len(p.Logs)) {
			return lines, errRecord
		}
		l := LogLine{At: p.Logs[site].At, Body: binary.LittleEndian.Uint32(area[8:]), Actor: binary.LittleEndian.Uint32(area[12:])}
		var ok bool
		if l.Text, ok = logText(p.Logs[site].Parts, area[rt.LogHeader:size]); !ok {
			return lines, errRecord
		}
		lines = append(lines, l)
		area = area[size:]
	}
	return lines, nil
}

// logText puts values into a log's texts; they must be there to the last byte.
func logText(parts []LogPart, values []byte) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		n := 0
		switch part.Kind {
		case LogText:
			b.WriteString(part.Text)
		case LogNumber:
			if n = 8; len(values) >= n {
				b.WriteString(formatNumber(math.Float64frombits(binary.LittleEndian.Uint64(values))))
			}
		case LogBool:
			if n = 1; len(values) >= n {
				b.WriteString(strconv.FormatBool(values[0] != 0))
			}
		case LogStr:
			if n = 1; len(values) >= n {
				if n += int(values[0]); len(values) >= n {
					b.Write(values[1:n])
				}
			}
		}
		if n > len(values) {
			return "", false
		}
		values = values[n:]
	}
	return b.String(), len(values) == 0
}

// formatNumber writes a number as JavaScript does.
func formatNumber(v float64) string {
	switch size := math.Abs(v); {
	case v != v:
		return "NaN"
	case size > math.MaxFloat64:
		return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+") + "inity"
	case size == 0:
		return "0"
	case size >= 1e-6 && size < 1e21:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	s := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}
