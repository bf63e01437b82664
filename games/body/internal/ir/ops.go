package ir

// Op is an operator on values. ToInt32 and ToInt32Near are JavaScript's
// ToInt32; the second may be used where the operand's size is below 2^63, and
// is faster.
type Op uint8

const (
	EqzI32 Op = iota
	EqI32
	NeI32
	LtI32
	LtU32
	GtI32
	GtU32
	LeI32
	LeU32
	GeI32
	GeU32
	AddI32
	SubI32
	MulI32
	DivU32
	RemI32
	RemU32
	AndI32
	OrI32
	XorI32
	ShlI32
	ShrI32
	ShrU32
	EqzI64
	EqI64
	LtU64
	LtI64
	GeU64
	AddI64
	SubI64
	MulI64
	RemI64
	RemU64
	AndI64
	OrI64
	XorI64
	ShlI64
	ShrI64
	ShrU64
	ClzI64
	EqF64
	NeF64
	LtF64
	GtF64
	LeF64
	GeF64
	AbsF64
	NegF64
	CeilF64
	FloorF64
	TruncF64
	SqrtF64
	AddF64
	SubF64
	MulF64
	DivF64
	MinF64
	MaxF64
	CopysignF64
	Fround
	WrapI64
	ExtendI32
	ExtendU32
	FromI32 // f64 of a signed i32
	FromU32
	FromI64
	FromU64
	BitsOfF64
	F64OfBits
	ToInt32
	ToInt32Near
	ToI64 // truncation of a number whose size is below 2^63; NaN gives 0

	opCount
)

type opInfo struct {
	name string
	code []byte
	in   Type
	out  Type
	two  bool
}

var ops = [opCount]opInfo{
	EqzI32:      {"i32.eqz", []byte{0x45}, I32, I32, false},
	EqI32:       {"i32.eq", []byte{0x46}, I32, I32, true},
	NeI32:       {"i32.ne", []byte{0x47}, I32, I32, true},
	LtI32:       {"i32.lt_s", []byte{0x48}, I32, I32, true},
	LtU32:       {"i32.lt_u", []byte{0x49}, I32, I32, true},
	GtI32:       {"i32.gt_s", []byte{0x4a}, I32, I32, true},
	GtU32:       {"i32.gt_u", []byte{0x4b}, I32, I32, true},
	LeI32:       {"i32.le_s", []byte{0x4c}, I32, I32, true},
	LeU32:       {"i32.le_u", []byte{0x4d}, I32, I32, true},
	GeI32:       {"i32.ge_s", []byte{0x4e}, I32, I32, true},
	GeU32:       {"i32.ge_u", []byte{0x4f}, I32, I32, true},
	AddI32:      {"i32.add", []byte{0x6a}, I32, I32, true},
	SubI32:      {"i32.sub", []byte{0x6b}, I32, I32, true},
	MulI32:      {"i32.mul", []byte{0x6c}, I32, I32, true},
	DivU32:      {"i32.div_u", []byte{0x6e}, I32, I32, true},
	RemI32:      {"i32.rem_s", []byte{0x6f}, I32, I32, true},
	RemU32:      {"i32.rem_u", []byte{0x70}, I32, I32, true},
	AndI32:      {"i32.and", []byte{0x71}, I32, I32, true},
	OrI32:       {"i32.or", []byte{0x72}, I32, I32, true},
	XorI32:      {"i32.xor", []byte{0x73}, I32, I32, true},
	ShlI32:      {"i32.shl", []byte{0x74}, I32, I32, true},
	ShrI32:      {"i32.shr_s", []byte{0x75}, I32, I32, true},
	ShrU32:      {"i32.shr_u", []byte{0x76}, I32, I32, true},
	EqzI64:      {"i64.eqz", []byte{0x50}, I64, I32, false},
	EqI64:       {"i64.eq", []byte{0x51}, I64, I32, true},
	LtI64:       {"i64.lt_s", []byte{0x53}, I64, I32, true},
	LtU64:       {"i64.lt_u", []byte{0x54}, I64, I32, true},
	GeU64:       {"i64.ge_u", []byte{0x5a}, I64, I32, true},
	AddI64:      {"i64.add", []byte{0x7c}, I64, I64, true},
	SubI64:      {"i64.sub", []byte{0x7d}, I64, I64, true},
	MulI64:      {"i64.mul", []byte{0x7e}, I64, I64, true},
	RemI64:      {"i64.rem_s", []byte{0x81}, I64, I64, true},
	RemU64:      {"i64.rem_u", []byte{0x82}, I64, I64, true},
	AndI64:      {"i64.and", []byte{0x83}, I64, I64, true},
	OrI64:       {"i64.or", []byte{0x84}, I64, I64, true},
	XorI64:      {"i64.xor", []byte{0x85}, I64, I64, true},
	ShlI64:      {"i64.shl", []byte{0x86}, I64, I64, true},
	ShrI64:      {"i64.shr_s", []byte{0x87}, I64, I64, true},
	ShrU64:      {"i64.shr_u", []byte{0x88}, I64, I64, true},
	ClzI64:      {"i64.clz", []byte{0x79}, I64, I64, false},
	EqF64:       {"f64.eq", []byte{0x61}, F64, I32, true},
	NeF64:       {"f64.ne", []byte{0x62}, F64, I32, true},
	LtF64:       {"f64.lt", []byte{0x63}, F64, I32, true},
	GtF64:       {"f64.gt", []byte{0x64}, F64, I32, true},
	LeF64:       {"f64.le", []byte{0x65}, F64, I32, true},
	GeF64:       {"f64.ge", []byte{0x66}, F64, I32, true},
	AbsF64:      {"f64.abs", []byte{0x99}, F64, F64, false},
	NegF64:      {"f64.neg", []byte{0x9a}, F64, F64, false},
	CeilF64:     {"f64.ceil", []byte{0x9b}, F64, F64, false},
	FloorF64:    {"f64.floor", []byte{0x9c}, F64, F64, false},
	TruncF64:    {"f64.trunc", []byte{0x9d}, F64, F64, false},
	SqrtF64:     {"f64.sqrt", []byte{0x9f}, F64, F64, false},
	AddF64:      {"f64.add", []byte{0xa0}, F64, F64, true},
	SubF64:      {"f64.sub", []byte{0xa1}, F64, F64, true},
	MulF64:      {"f64.mul", []byte{0xa2}, F64, F64, true},
	DivF64:      {"f64.div", []byte{0xa3}, F64, F64, true},
	MinF64:      {"f64.min", []byte{0xa4}, F64, F64, true},
	MaxF64:      {"f64.max", []byte{0xa5}, F64, F64, true},
	CopysignF64: {"f64.copysign", []byte{0xa6}, F64, F64, true},
	Fround:      {"fround", []byte{0xb6, 0xbb}, F64, F64, false},
	WrapI64:     {"i32.wrap_i64", []byte{0xa7}, I64, I32, false},
	ExtendI32:   {"i64.extend_i32_s", []byte{0xac}, I32, I64, false},
	ExtendU32:   {"i64.extend_i32_u", []byte{0xad}, I32, I64, false},
	FromI32:     {"f64.convert_i32_s", []byte{0xb7}, I32, F64, false},
	FromU32:     {"f64.convert_i32_u", []byte{0xb8}, I32, F64, false},
	FromI64:     {"f64.convert_i64_s", []byte{0xb9}, I64, F64, false},
	FromU64:     {"f64.convert_i64_u", []byte{0xba}, I64, F64, false},
	BitsOfF64:   {"i64.reinterpret_f64", []byte{0xbd}, F64, I64, false},
	F64OfBits:   {"f64.reinterpret_i64", []byte{0xbf}, I64, F64, false},
	ToInt32:     {"toint32", nil, F64, I32, false},
	ToInt32Near: {"toint32.near", []byte{0xfc, 0x06, 0xa7}, F64, I32, false},
	ToI64:       {"i64.trunc_sat_f64_s", []byte{0xfc, 0x06}, F64, I64, false},
}

// String is the operator's name in printed form.
func (o Op) String() string { return ops[o].name }

// Out is the type of the result.
func (o Op) Out() Type { return ops[o].out }

// In is the type of the operands.
func (o Op) In() Type { return ops[o].in }

// Binary reports whether the operator takes two operands.
func (o Op) Binary() bool { return ops[o].two }

// Code is the operator's instructions; nil for ToInt32, which is a function.
func (o Op) Code() []byte { return ops[o].code }
