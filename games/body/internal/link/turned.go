package link

import "gamehoster/games/body/internal/ir"

// mirrored has, for each comparison of integers, the one that says the same of its
// operands the other way round.
var mirrored = map[byte]byte{
	0x48: 0x4a, 0x4a: 0x48, 0x49: 0x4b, 0x4b: 0x49, // i32: lt and gt, signed and unsigned
	0x4c: 0x4e, 0x4e: 0x4c, 0x4d: 0x4f, 0x4f: 0x4d, // le and ge
	0x53: 0x55, 0x55: 0x53, 0x54: 0x56, 0x56: 0x54, // i64
	0x57: 0x59, 0x59: 0x57, 0x58: 0x5a, 0x5a: 0x58,
}

// turned says whether a comparison's operands have to change places, and as what it is
// then emitted. wazero 1.12 makes a test of the bits of x & y when that is compared with
// 0, and forgets on amd64 that a 0 on the left turns the comparison round: 0 > (x & 1)
// would be x & 1 > 0. So constants, and variables that wazero may know to be one, stand
// on the right.
func turned(x *ir.Apply) (code byte, ok bool) {
	op := x.Op.Code()
	if len(op) != 1 || x.Y == nil {
		return 0, false
	}
	code, ok = mirrored[op[0]]
	if !ok {
		return 0, false
	}
	switch x.X.(type) {
	case *ir.Const:
		_, both := x.Y.(*ir.Const)
		return code, !both
	case *ir.Get:
		y, apply := x.Y.(*ir.Apply)
		return code, apply && (y.Op == ir.AndI32 || y.Op == ir.AndI64) && !effects(y)
	}
	return 0, false
}
