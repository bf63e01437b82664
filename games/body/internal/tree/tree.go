// Package tree is a game's bodies after they were understood: every name is
// resolved, every expression has a type, every helper is an instance for the
// arguments it is called with.
//
//	front --builds--> tree --walked by--> front (what a body may see and write)
//	                   |---run by-------> eval (what constants are)
//	                   `---turned by----> lower (into ir)
//
// It is JavaScript without what only matters to its reader. There are no objects but those
// of the game: an object that a body writes is variables by now, a table of constants is
// an Index into one list of values, and a helper that gives an object gives the first of
// its values as its result and leaves the others to be read behind the call (More).
// Patterns, default values and loops over tables are statements that stand for them.
// Operators mean what they mean in JavaScript; conversions that its types make invisible
// are made by whoever runs the tree. An expression's value is a double, a truth, a text
// or a row.
//
// A tree has no positions but offsets into the file set, and no text but string literals.
// It is not changed once it is built.
package tree

import (
	"github.com/grafana/sobek/file"

	"gamehoster/games/schema"
)

// Kind is the kind of a type.
type Kind uint8

const (
	Bad    Kind = iota // of an expression that was refused already; fits everywhere
	Void               // nothing: a call of a function that returns no value
	Number             // a double
	Bool
	Str
	Null      // the type of null alone
	Object    // a player or an entity
	Command   // the command that a handler was called with
	Constants // of what is no value: a table, a collection, an object that a body makes
)

// Type is the type of an expression.
type Type struct {
	Kind Kind
	Of   *schema.Type    // Object
	Cmd  *schema.Command // Command
	Null bool            // Object: may be null
}

// String is the type as authors are told of it.
func (t Type) String() string {
	switch t.Kind {
	case Void:
		return "nothing"
	case Number:
		return "a number"
	case Bool:
		return "a bool"
	case Str:
		return "a str"
	case Null:
		return "null"
	case Object:
		s := "an object of type " + t.Of.Name
		if t.Null {
			s += " or null"
		}
		return s
	case Command:
		return "a command"
	case Constants:
		return "a table"
	}
	return "an error"
}

// Var is a variable or parameter of one function instance.
type Var struct {
	Name     string
	Type     Type
	Const    bool
	Assigned bool // written after its declaration
}

// Func is one function for the types it is called with.
type Func struct {
	Name    string
	At      file.Idx
	Server  bool // runs in server bodies: may see everything
	Library bool // of the maths library
	Params  []*Var
	Result  Type
	More    []Type // of what it gives besides; see More
	Body    []Stmt
}

// Node is what all expressions share.
type Node struct {
	At file.Idx
	T  Type
}

// Pos is where the expression begins in the file set.
func (n *Node) Pos() file.Idx { return n.At }

// Type is the expression's type.
func (n *Node) Type() Type { return n.T }

// Expr is an expression.
type Expr interface {
	Pos() file.Idx
	Type() Type
}

// Op is an operator of JavaScript.
type Op uint8

const (
	NoOp Op = iota
	Add
	Sub
	Mul
	Div
	Rem
	Pow
	BitAnd
	BitOr
	BitXor
	Shl
	Shr
	ShrU
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Not
	Neg
	Plus
	BitNot
	And
	Or
	Coalesce // ??, in an Assign
)

// Lazy reports whether the operator's right side is only evaluated where the left
// one asks for it.
func (op Op) Lazy() bool { return op >= And }

// Builtin is a property that no definition declares.
type Builtin uint8

const (
	ID    Builtin = iota // of an object
	Owner                // of an owned object
	Tick                 // of game
	Dt                   // of game
	Open                 // of game; writable by server bodies
	Count                // of a collection
)

type (
	// NumberLit is a number.
	NumberLit struct {
		Node
		Value float64
	}
	// BoolLit is true or false.
	BoolLit struct {
		Node
		Value bool
	}
	// StrLit is a string.
	StrLit struct {
		Node
		Value string
	}
	// NullLit is null.
	NullLit struct{ Node }
	// VarRef reads a variable.
	VarRef struct {
		Node
		Var *Var
	}
	// Field is a field of an object or, with Obj nil, of the instance. It reads,
	// and as the target of an Assign is written.
	Field struct {
		Node
		Obj   Expr
		Of    *schema.Type
		Field *schema.Field
	}
	// CommandField reads a field of a command.
	CommandField struct {
		Node
		Obj   Expr
		Cmd   *schema.Command
		Field *schema.Field
	}
	// Property reads a Builtin; Of is the type for ID, Owner and Count.
	Property struct {
		Node
		What Builtin
		Obj  Expr
		Of   *schema.Type
	}
	// Unary is Not, Neg, Plus or BitNot.
	Unary struct {
		Node
		Op Op
		X  Expr
	}
	// Binary is arithmetic, bits or a comparison. Operands of a comparison are
	// two numbers, bools, strs or objects.
	Binary struct {
		Node
		Op   Op
		X, Y Expr
	}
	// Logical is And or Or: it yields one of its operands. Mixed operands are of
	// different types, of which only the truth is used. Where its value is dropped Y
	// may have none.
	Logical struct {
		Node
		Op    Op
		X, Y  Expr
		Mixed bool
	}
	// Nullish is X ?? Y, where X is an object or an Optional.
	Nullish struct {
		Node
		X, Y Expr
	}
	// Optional is Base?.Rest: Var holds the value of Base while Rest is evaluated,
	// which it is not when that is null. Its type is Rest's, which it has only on
	// the left of ?? or when its value is not used.
	Optional struct {
		Node
		Base Expr
		Var  *Var
		Rest Expr
	}
	// Cond is Test ? Then : Else. Where its value is dropped they may have none.
	Cond struct {
		Node
		Test, Then, Else Expr
	}
	// Assign writes a VarRef, a Field, a Named or the Open property. With Op, the old
	// value is its left operand; with a lazy one X is evaluated and written only where
	// that asks for it. Its value is the new one or, with Old, the one before.
	Assign struct {
		Node
		Target Expr
		Op     Op
		X      Expr
		Old    bool
	}
	// Comma evaluates all and yields the last.
	Comma struct {
		Node
		List []Expr
	}
	// Call calls a helper.
	Call struct {
		Node
		Fn   *Func
		Args []Expr
	}
	// More is one of the values that a function gave besides its result when it was
	// called last. It is read right behind the call.
	More struct {
		Node
		Fn    *Func
		Index int
	}
	// Math calls a function of Math, or one of Number's that tells of a number.
	Math struct {
		Node
		Name string
		Args []Expr
	}
	// Random is random() or serverRandom().
	Random struct {
		Node
		Server bool
	}
	// Spawn makes an object; Owner is nil for types without.
	Spawn struct {
		Node
		Of    *schema.Type
		Owner Expr
	}
	// Find looks an object up by id.
	Find struct {
		Node
		Of *schema.Type
		ID Expr
	}
	// Remove removes an object.
	Remove struct {
		Node
		Of  *schema.Type
		Obj Expr
	}
	// End is game.end().
	End struct{ Node }
	// Index reads a constant table, with an index for each of its levels.
	Index struct {
		Node
		Table *Table
		Path  []Expr
	}
	// Named is a field whose name is computed: one of Fields, or else a fault at
	// Node.At. Obj nil is the instance; Of is nil for a command's. It reads, and as
	// the target of an Assign is written.
	Named struct {
		Node
		Obj    Expr
		Of     *schema.Type
		Cmd    *schema.Command
		Name   Expr
		Fields []*schema.Field
	}
	// StrLen is the length of a str in units of UTF-16.
	StrLen struct {
		Node
		X Expr
	}
	// Log writes to the server's log; see LogPart.
	Log struct {
		Node
		Parts []LogPart
	}
	// NonNull is X, which must not be null: a null is a fault at Node.At.
	NonNull struct {
		Node
		X Expr
	}
)

// LogPart is a text or, with X, the value of a number, a bool or a str.
type LogPart struct {
	Text string
	X    Expr
}

// AddText adds a text that is constant.
func (l *Log) AddText(s string) {
	if n := len(l.Parts); n > 0 && l.Parts[n-1].X == nil {
		l.Parts[n-1].Text += s
	} else if s != "" {
		l.Parts = append(l.Parts, LogPart{Text: s})
	}
}

// AddValue adds a value.
func (l *Log) AddValue(x Expr) { l.Parts = append(l.Parts, LogPart{X: x}) }

// Intrinsic calls a function that only the maths library has.
type Intrinsic struct {
	Node
	What Inner
	Args []Expr
}

// Inner is what an Intrinsic does.
type Inner uint8

const (
	HighWord  Inner = iota // the upper half of a number's bits, signed
	LowWord                // the lower half, unsigned
	FromWords              // the number of two halves
	Scale                  // x times 2^k, for k + 1.5 * 2^52
	Head                   // the number without its lowest 27 bits
	SetTail                // keeps a number
	Tail                   // the number that was kept last
	Apart                  // keeps the function from being copied into its callers
)

// Table is constant values that are read by indices which are computed when the
// game runs. The first index chooses among the parts of the whole, the next among
// the parts of that, and so on; the last ones' parts are the values, in order.
type Table struct {
	Name   string
	Kind   Kind // Number, Bool or Str
	Levels []Level
	Values []float64 // numbers, and 0 or 1
	Texts  []string
}

// Level is one index of a Table: how many parts there are in each part of the level
// before, whose parts follow one another. With Keys the index is a name.
type Level struct {
	Lens []int
	Keys []string
}

// Stmt is a statement.
type Stmt interface{ stmt() }

// Target is what a Break or Continue refers to.
type Target struct{ Name string }

type (
	// Decl declares a variable with its first value.
	Decl struct {
		Var *Var
		X   Expr
	}
	// Eval evaluates for the effects.
	Eval struct{ X Expr }
	// Block is statements in a scope of their own. Target is what a labelled one is
	// left by.
	Block struct {
		Target *Target
		Body   []Stmt
	}
	// If chooses by the truth of Test.
	If struct {
		Test       Expr
		Then, Else []Stmt
	}
	// Loop is for, while and (with Late) do-while. Test nil is always true.
	Loop struct {
		At     file.Idx
		Target *Target
		Test   Expr
		Step   Expr
		Body   []Stmt
		Late   bool // the first round runs before the test
	}
	// ForOf visits the rows of a collection that are there when it begins.
	ForOf struct {
		At     file.Idx
		Target *Target
		Var    *Var
		Of     *schema.Type
		Body   []Stmt
	}
	// Switch jumps to the first case that equals X, else to Default (-1: past it).
	Switch struct {
		Target  *Target
		X       Expr
		Cases   []Case
		Default int
	}
	// Break leaves its target.
	Break struct{ Target *Target }
	// Continue starts its target's next round.
	Continue struct{ Target *Target }
	// Return ends the function; X may be nil. More are the values for Func.More.
	Return struct {
		X    Expr
		More []Expr
	}
)

// Case is one case of a Switch; Test is nil for the default.
type Case struct {
	Test Expr
	Body []Stmt
}

func (*Decl) stmt()     {}
func (*Eval) stmt()     {}
func (*Block) stmt()    {}
func (*If) stmt()       {}
func (*Loop) stmt()     {}
func (*ForOf) stmt()    {}
func (*Switch) stmt()   {}
func (*Break) stmt()    {}
func (*Continue) stmt() {}
func (*Return) stmt()   {}
