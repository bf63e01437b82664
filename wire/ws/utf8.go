package ws

import (
	"encoding/binary"
	"unicode/utf8"
)

// utf8State is how far a check of a text has come that arrives in pieces: 0 between
// characters, otherwise what the next byte must be.
type utf8State uint8

const (
	utf8Start   utf8State = iota // at the start of a character
	utf8Last                     // one continuation byte is missing
	utf8Two                      // two are
	utf8Three                    // three are
	utf8AfterE0                  // the lower half would be an overlong form
	utf8AfterED                  // the upper half would be a surrogate
	utf8AfterF0                  // the lowest part would be an overlong form
	utf8AfterF4                  // all but the lowest part would lie past U+10FFFF
)

// utf8Steps says for each state inside a character which bytes may follow and what is expected after.
var utf8Steps = [...]struct {
	low, high byte
	then      utf8State
}{
	utf8Last:    {0x80, 0xBF, utf8Start},
	utf8Two:     {0x80, 0xBF, utf8Last},
	utf8Three:   {0x80, 0xBF, utf8Two},
	utf8AfterE0: {0xA0, 0xBF, utf8Last},
	utf8AfterED: {0x80, 0x9F, utf8Last},
	utf8AfterF0: {0x90, 0xBF, utf8Two},
	utf8AfterF4: {0x80, 0x8F, utf8Two},
}

// feed goes on with the check over p and says whether the text can still become
// valid: the answer is no at the first byte that rules it out, not later.
func (s *utf8State) feed(p []byte) bool {
	state := *s
	for {
		for state != utf8Start {
			if len(p) == 0 {
				*s = state
				return true
			}
			step := utf8Steps[state&7]
			if p[0] < step.low || p[0] > step.high {
				return false
			}
			state, p = step.then, p[1:]
		}
		for len(p) >= 8 && binary.LittleEndian.Uint64(p)&0x8080808080808080 == 0 {
			p = p[8:]
		}
		if len(p) == 0 {
			*s = utf8Start
			return true
		}
		c := p[0]
		p = p[1:]
		switch {
		case c < utf8.RuneSelf:
		case c < 0xC2: // a continuation byte, or C0 and C1 that only begin overlong forms
			return false
		case c < 0xE0:
			state = utf8Last
		case c == 0xE0:
			state = utf8AfterE0
		case c == 0xED:
			state = utf8AfterED
		case c < 0xF0:
			state = utf8Two
		case c == 0xF0:
			state = utf8AfterF0
		case c < 0xF4:
			state = utf8Three
		case c == 0xF4:
			state = utf8AfterF4
		default:
			return false
		}
	}
}

// done says whether the text may end here.
func (s utf8State) done() bool { return s == utf8Start }
