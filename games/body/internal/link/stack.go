package link

import (
	"fmt"

	"gamehoster/games/body/internal/ir"
)

// MaxStack is the most that the calls of a module may take of the stack of the
// machine that runs it, in bytes as they are reckoned here. Browsers give their
// pages about a megabyte and end what takes more, without a word of the module's;
// wazero gives more. So that no body ends in one place and runs on in the other,
// it is refused.
const MaxStack = 256 << 10

// What a call takes, about: V8's first compiler keeps each local in memory.
const (
	frameBytes = 256
	localBytes = 8
)

// StackError is that a module's calls take more than MaxStack.
type StackError struct {
	Bytes int
	Path  []*ir.Func // the calls, outermost first
}

func (e *StackError) Error() string {
	return fmt.Sprintf("the calls take %d bytes of stack, more than %d", e.Bytes, MaxStack)
}

// checkStack finds the calls that take the most. locals are how many each function
// has. No function leads to itself.
func (l *linker) checkStack(locals map[*ir.Func]int, roots []*ir.Func) error {
	takes := map[*ir.Func]int{}
	next := map[*ir.Func]*ir.Func{}
	var visit func(f *ir.Func) int
	visit = func(f *ir.Func) int {
		n, ok := takes[f]
		if !ok {
			most := 0
			for _, g := range l.callees(f) {
				if m := visit(g); m > most {
					most, next[f] = m, g
				}
			}
			n = frameBytes + localBytes*locals[f] + most
			takes[f] = n
		}
		return n
	}
	for _, f := range roots {
		if n := visit(f); n > MaxStack {
			e := &StackError{Bytes: n}
			for ; f != nil; f = next[f] {
				e.Path = append(e.Path, f)
			}
			return e
		}
	}
	return nil
}
