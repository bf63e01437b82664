package wasm

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// TestEncode compares a module that has one of everything with its bytes.
func TestEncode(t *testing.T) {
	f := &Func{Name: "f", Export: "run", Params: []ValType{I32}, Results: []ValType{F64}, Locals: []ValType{I64, I64, F32}}
	f.Code.F64(math.Float64bits(1.5))
	f.Code.Idx(OpLocalGet, 0)
	f.Code.Mem(0x2a, 2, 300)
	f.Code.Op(0xbb, 0xa0)
	g := &Func{Name: "g"}
	g.Code.I32(-1)
	g.Code.Op(OpDrop)
	g.Code.I64(1 << 40)
	g.Code.Op(OpDrop)
	g.Code.F32(0x7fc00000)
	g.Code.Op(OpDrop)
	m := &Module{
		Funcs:    []*Func{f, g},
		Globals:  []Global{{Type: I32, Mutable: true, Init: 1<<32 - 64, Export: "x"}, {Type: I64, Mutable: true, Init: 5}, {Type: F64, Init: math.Float64bits(2)}},
		Data:     []Data{{At: 16, Bytes: []byte("hi")}},
		MinPages: 1, MaxPages: 32768,
	}
	want := strings.NewReplacer(" ", "", "\n", "").Replace(`
00 61 73 6d 01 00 00 00
01 09 02 60 01 7f 01 7c 60 00 00
03 03 02 00 01
05 06 01 01 01 80 80 02
06 17 03 7f 01 41 40 0b 7e 01 42 05 0b 7c 00 44 00 00 00 00 00 00 00 40 0b
07 14 03 06 6d 65 6d 6f 72 79 02 00 03 72 75 6e 00 00 01 78 03 00
0a 2d 02
 17 02 02 7e 01 7d 44 00 00 00 00 00 00 f8 3f 20 00 2a 02 ac 02 bb a0 0b
 13 00 41 7f 1a 42 80 80 80 80 80 20 1a 43 00 00 c0 7f 1a 0b
0b 08 01 00 41 10 0b 02 68 69
00 0e 04 6e 61 6d 65 01 07 02 00 01 66 01 01 67`)
	if got := hex.EncodeToString(m.Encode()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const text = `(module
  (memory (export "memory") 1 32768)
  (global $x (export "x") (mut i32) (i32.const -64))
  (global $global1 (mut i64) (i64.const 5))
  (global $2 f64 (f64.const 2))
  (func $f (export "run") (param i32) (result f64)
    (local i64 i64 f32)
    f64.const 1.5
    local.get 0
    f32.load offset=300 align=4
    f64.promote_f32
    f64.add
  )
  (func $g
    i32.const -1
    drop
    i64.const 1099511627776
    drop
    f32.const nan
    drop
  )
  (data (i32.const 16) "hi")
)
`
	if got, err := Text(m.Encode()); err != nil || got != text {
		t.Errorf("got\n%s\nwant\n%s%v", got, text, err)
	}
}

func TestTextOfBlocks(t *testing.T) {
	f := &Func{Name: "f"}
	f.Code.Op(OpBlock, BlockVoid, OpLoop, BlockVoid)
	f.Code.I32(1)
	f.Code.Op(OpIf, byte(F64))
	f.Code.F64(math.Float64bits(math.Inf(-1)))
	f.Code.Op(OpElse)
	f.Code.F64(math.Float64bits(1e300))
	f.Code.Op(OpEnd, 0xb6, OpDrop)
	f.Code.Idx(OpBr, 1)
	f.Code.Op(OpEnd, OpEnd)
	f.Code.Idx(OpCall, 1)
	f.Code.I32(1)
	f.Code.I32(2)
	f.Code.I32(3)
	f.Code.MemoryCopy()
	g := &Func{Name: "f"}
	m := &Module{Funcs: []*Func{f, g}, Data: []Data{{At: 16, Bytes: []byte("a\"\\\n")}}, MinPages: 1, MaxPages: 1}
	got, err := Text(m.Encode())
	const want = `(module
  (memory (export "memory") 1 1)
  (func $f
    block
      loop
        i32.const 1
        if (result f64)
          f64.const -inf
        else
          f64.const 1e+300
        end
        f32.demote_f64
        drop
        br 1
      end
    end
    call $f.2
    i32.const 1
    i32.const 2
    i32.const 3
    memory.copy
  )
  (func $f.2
  )
  (data (i32.const 16) "a\22\5c\0a")
)
`
	if err != nil || got != want {
		t.Errorf("got\n%s\nwant\n%s%v", got, want, err)
	}
	for _, bad := range [][]byte{nil, []byte("wasm"), m.Encode()[:40]} {
		if _, err := Text(bad); err == nil {
			t.Error("no error")
		}
	}
}

// Names of variables stand where they are declared and used, each once in a function.
func TestTextOfNames(t *testing.T) {
	f := &Func{Name: "größe (1)", Params: []ValType{I32, I32}, Locals: []ValType{F64, F64}, Names: []string{"base", "row", "x", "x"}}
	f.Code.Idx(OpLocalGet, 1)
	f.Code.Idx(OpGlobalSet, 0)
	f.Code.Idx(OpLocalGet, 3)
	f.Code.Idx(OpLocalSet, 2)
	g := &Func{Name: "g", Locals: []ValType{I32}}
	m := &Module{Funcs: []*Func{f, g}, Globals: []Global{{Type: I32, Mutable: true, Name: "fuel"}}, MinPages: 1, MaxPages: 1}
	got, err := Text(m.Encode())
	const want = `(module
  (memory (export "memory") 1 1)
  (global $fuel (mut i32) (i32.const 0))
  (func $gr__e__1_ (param $base i32) (param $row i32)
    (local $x f64) (local $x.2 f64)
    local.get $row
    global.set $fuel
    local.get $x.2
    local.set $x
  )
  (func $g
    (local i32)
  )
)
`
	if err != nil || got != want {
		t.Errorf("got\n%s\nwant\n%s%v", got, want, err)
	}
}

func TestAppendSigned(t *testing.T) {
	for v, want := range map[int64]string{0: "00", 63: "3f", 64: "c000", -64: "40", -65: "bf7f", 128: "8001", math.MaxInt64: "ffffffffffffffffff00", math.MinInt64: "8080808080808080807f"} {
		if got := hex.EncodeToString(appendSigned(nil, v)); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}
