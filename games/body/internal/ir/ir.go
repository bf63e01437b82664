// Package ir is the typed tree that bodies are compiled through: structured
// control flow, expressions of four machine types, and places in an instance's
// state named by type and field instead of by number.
//
//	tree (checked JavaScript) -> ir -> optimised ir -> server module
//	                                              \-> client module
//
// Because places are symbolic (Offset), one function serves both sides: the
// layouts differ by the server's fields, and the numbers are put in when a side
// is linked. Everything that runs is written in it, the bodies as well as the
// driver that calls them and the maths library.
//
// Semantics are those of WebAssembly: operands are evaluated left to right,
// an f32 exists in memory only (loads widen, stores round), and a Seq runs its
// statements before it yields its value.
package ir

import (
	"math"

	"gamehoster/games/body/internal/wasm"
)

// Type is the type of a value.
type Type uint8

const (
	Void Type = iota
	I32       // integers, addresses and truth
	I64
	F64
)

var typeNames = [...]string{"void", "i32", "i64", "f64"}

// String is the type's name in printed form.
func (t Type) String() string { return typeNames[t] }

// Wasm is the type's counterpart on the wasm stack; t is not Void.
func (t Type) Wasm() wasm.ValType {
	return [...]wasm.ValType{I32: wasm.I32, I64: wasm.I64, F64: wasm.F64}[t]
}

// Local is a variable or parameter of a function.
type Local struct {
	Name   string
	Type   Type
	Lo, Hi int64 // where an I32 can be, if that was found out; else both are 0
}

// Func is one function. A Func without Body is completed before it is emitted.
type Func struct {
	Name   string
	Params []*Local
	Result Type
	Body   []Stmt
	Fresh  bool // writes nothing but what stands at fixed places, and memory that nobody read yet
	Inline bool // worth copying into every caller
	Keep   bool // never inlined: entered from outside, or long and rarely on the way
}

// Global is a mutable variable of the module.
type Global struct {
	Name   string
	Type   Type
	Export bool
}

// Data is constant bytes that the module's memory holds. The linker gives it
// an address, 8-byte aligned, when something that is linked refers to it.
type Data struct {
	Name  string
	Bytes []byte
}

// Place is what an Offset is relative to.
type Place uint8

const (
	Plain         Place = iota // a number
	RowField                   // field Field of a row of type Type
	Instance                   // field Field of the instance, from the block's start
	Rows                       // the first row of type Type, from the block's start
	Counts                     // the counts of type Type, from the block's start
	Stride                     // the size of a row of type Type
	CommandField               // field Field of a command record of command Type
	CommandStride              // the size of a command record
	ServerSide                 // 1 on the server, 0 on the client
)

// Offset is a number of bytes that may depend on the side.
type Offset struct {
	Place       Place
	Type, Field int
	Add         int
}

// At is a plain offset.
func At(n int) Offset { return Offset{Add: n} }

// Mem is how a value lies in memory.
type Mem uint8

const (
	MemI8 Mem = iota
	MemU8
	MemI16
	MemU16
	MemI32
	MemI64
	MemF32
	MemF64
)

var memNames = [...]string{"i8", "u8", "i16", "u16", "i32", "i64", "f32", "f64"}

// Type is the type a load yields and a store takes.
func (m Mem) Type() Type {
	switch m {
	case MemI64:
		return I64
	case MemF32, MemF64:
		return F64
	}
	return I32
}

// Expr is an expression.
type Expr interface{ Type() Type }

// Stmt is a statement.
type Stmt interface{ stmt() }

type (
	// Const is a number by its bits.
	Const struct {
		T    Type
		Bits uint64
	}
	// Sym is an Offset as an I32.
	Sym struct{ Off Offset }
	// DataAddr is the address of constant bytes.
	DataAddr struct{ Data *Data }
	// Get reads a local.
	Get struct{ Local *Local }
	// GetGlobal reads a global.
	GetGlobal struct{ Global *Global }
	// Load reads memory at Addr + Off.
	Load struct {
		Addr Expr
		Off  Offset
		Mem  Mem
	}
	// Apply is an operator; Y is nil for one operand.
	Apply struct {
		Op   Op
		X, Y Expr
	}
	// Cond yields Then where Test is not zero, else Else; only that one runs.
	Cond struct{ Test, Then, Else Expr }
	// Call calls a function that yields a value, or as Eval one that does not.
	Call struct {
		Fn   *Func
		Args []Expr
	}
	// Seq runs statements, then yields Value.
	Seq struct {
		Body  []Stmt
		Value Expr
	}
)

func (e *Const) Type() Type     { return e.T }
func (e *Sym) Type() Type       { return I32 }
func (e *DataAddr) Type() Type  { return I32 }
func (e *Get) Type() Type       { return e.Local.Type }
func (e *GetGlobal) Type() Type { return e.Global.Type }
func (e *Load) Type() Type      { return e.Mem.Type() }
func (e *Apply) Type() Type     { return e.Op.Out() }
func (e *Cond) Type() Type      { return e.Then.Type() }
func (e *Call) Type() Type      { return e.Fn.Result }
func (e *Seq) Type() Type       { return e.Value.Type() }

// Label names a Block (Br leaves it) or a Loop (Br starts it again).
type Label struct{ Name string }

type (
	// Set writes a local.
	Set struct {
		Local *Local
		X     Expr
	}
	// SetGlobal writes a global.
	SetGlobal struct {
		Global *Global
		X      Expr
	}
	// Store writes memory at Addr + Off. A float's NaN becomes the canonical
	// one. A Sent store is one to a `sent` field: the client evaluates Addr and X
	// and writes nothing.
	Store struct {
		Addr Expr
		Off  Offset
		Mem  Mem
		X    Expr
		Sent bool
	}
	// Copy moves N bytes, which may overlap.
	Copy struct {
		Dst, Src, N Expr
		Sent        bool
	}
	// Fill writes N zero bytes.
	Fill struct{ Dst, N Expr }
	// Eval evaluates and drops.
	Eval struct{ X Expr }
	// If runs Then where Test is not zero, else Else.
	If struct {
		Test       Expr
		Then, Else []Stmt
	}
	// Block runs Body once.
	Block struct {
		Label *Label
		Body  []Stmt
	}
	// Loop runs Body; reaching its end leaves the loop.
	Loop struct {
		Label *Label
		Body  []Stmt
	}
	// Br goes to the end of a Block or the start of a Loop around it.
	Br struct{ Label *Label }
	// Return ends the function; X is nil where it yields nothing.
	Return struct{ X Expr }
	// Fuel takes Cost units from the body run's budget and faults when it is spent.
	Fuel struct {
		Cost int
		At   int // index of the position to report
	}
	// Trap ends the tick with a fault.
	Trap struct {
		Fault uint32
		At    int
	}
)

func (*Set) stmt()       {}
func (*SetGlobal) stmt() {}
func (*Store) stmt()     {}
func (*Copy) stmt()      {}
func (*Fill) stmt()      {}
func (*Eval) stmt()      {}
func (*If) stmt()        {}
func (*Block) stmt()     {}
func (*Loop) stmt()      {}
func (*Br) stmt()        {}
func (*Return) stmt()    {}
func (*Fuel) stmt()      {}
func (*Trap) stmt()      {}

// Int is an I32 constant.
func Int(v int) Expr { return &Const{I32, uint64(uint32(int32(v)))} }

// Long is an I64 constant.
func Long(v uint64) Expr { return &Const{I64, v} }

// Num is an F64 constant.
func Num(v float64) Expr { return &Const{F64, math.Float64bits(v)} }

// Read is the value of a local.
func Read(l *Local) Expr { return &Get{l} }

// Do applies an operator.
func Do(op Op, args ...Expr) Expr {
	if len(args) == 1 {
		return &Apply{Op: op, X: args[0]}
	}
	return &Apply{op, args[0], args[1]}
}

// Not is 1 where x is zero, else 0.
func Not(x Expr) Expr { return Do(EqzI32, x) }

// Both is x && y for truth values. As in Either, y may be evaluated in vain if it has no
// effect, so that memory which it reads must be there whatever x is.
func Both(x, y Expr) Expr { return &Cond{x, y, Int(0)} }

// Either is x || y for truth values.
func Either(x, y Expr) Expr { return &Cond{x, Int(1), y} }

// Value is the constant's number.
func (e *Const) Value() float64 {
	switch e.T {
	case F64:
		return math.Float64frombits(e.Bits)
	case I64:
		return float64(int64(e.Bits))
	}
	return float64(int32(uint32(e.Bits)))
}
