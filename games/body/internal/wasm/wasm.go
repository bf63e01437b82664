// Package wasm writes WebAssembly modules in the binary format. It knows the
// sections that compiled games need (functions, one memory, globals, data and
// names) and nothing about games; whoever fills a Module is trusted to leave
// the stack balanced, and the tests' runtimes validate what comes out.
package wasm

import "encoding/binary"

// ValType is the type of a value on the stack.
type ValType byte

const (
	I32 ValType = 0x7f
	I64 ValType = 0x7e
	F32 ValType = 0x7d
	F64 ValType = 0x7c
)

// Opcodes that carry structure or immediates. Plain arithmetic goes through
// Code.Op with its opcode.
const (
	OpUnreachable = 0x00
	OpBlock       = 0x02
	OpLoop        = 0x03
	OpIf          = 0x04
	OpElse        = 0x05
	OpEnd         = 0x0b
	OpBr          = 0x0c
	OpBrIf        = 0x0d
	OpReturn      = 0x0f
	OpCall        = 0x10
	OpDrop        = 0x1a
	OpSelect      = 0x1b
	OpLocalGet    = 0x20
	OpLocalSet    = 0x21
	OpLocalTee    = 0x22
	OpGlobalGet   = 0x23
	OpGlobalSet   = 0x24
	OpI32Const    = 0x41
	OpI64Const    = 0x42
	OpF32Const    = 0x43
	OpF64Const    = 0x44
	OpPrefix      = 0xfc // of saturating conversions and bulk memory

	// BlockVoid is the type of a block that leaves nothing on the stack.
	BlockVoid = 0x40

	PageSize = 1 << 16
)

// Module is a module under construction. Functions, globals and data are
// numbered by their place in the slices; there are no imports.
type Module struct {
	Funcs              []*Func
	Globals            []Global
	Data               []Data
	MinPages, MaxPages uint32 // of the memory
}

// Func is one function. Export is empty for an inner one.
type Func struct {
	Name    string
	Export  string
	Params  []ValType
	Results []ValType
	Locals  []ValType // past the parameters
	Names   []string  // of parameters and locals, for people; may be nil
	Code    Code      // without the final end
}

// Global is one I32, I64 or F64 global.
type Global struct {
	Type    ValType
	Mutable bool
	Init    uint64 // the value's bits
	Export  string
	Name    string // for people; may be empty
}

// Data is bytes that memory holds from the start.
type Data struct {
	At    uint32
	Bytes []byte
}

// Code is a function's instructions.
type Code struct{ B []byte }

// Op appends opcodes without immediates.
func (c *Code) Op(ops ...byte) { c.B = append(c.B, ops...) }

// Idx appends an opcode with one unsigned immediate: a local, global, function or depth.
func (c *Code) Idx(op byte, i int) { c.B = binary.AppendUvarint(append(c.B, op), uint64(i)) }

// Mem appends a load or store with its alignment (a power of two's exponent) and offset.
func (c *Code) Mem(op byte, align, off int) {
	c.B = append(c.B, op, byte(align))
	c.B = binary.AppendUvarint(c.B, uint64(off))
}

// I32 appends a constant.
func (c *Code) I32(v int32) { c.B = appendSigned(append(c.B, OpI32Const), int64(v)) }

// I64 appends a constant.
func (c *Code) I64(v int64) { c.B = appendSigned(append(c.B, OpI64Const), v) }

// F32 appends a constant by its bits.
func (c *Code) F32(bits uint32) {
	c.B = binary.LittleEndian.AppendUint32(append(c.B, OpF32Const), bits)
}

// F64 appends a constant by its bits.
func (c *Code) F64(bits uint64) {
	c.B = binary.LittleEndian.AppendUint64(append(c.B, OpF64Const), bits)
}

// MemoryCopy appends memory.copy: destination, source and length are on the stack.
func (c *Code) MemoryCopy() { c.Op(OpPrefix, 10, 0, 0) }

// MemoryFill appends memory.fill: destination, byte and length are on the stack.
func (c *Code) MemoryFill() { c.Op(OpPrefix, 11, 0) }

func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendName(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendSection(b []byte, id byte, body []byte) []byte {
	return append(binary.AppendUvarint(append(b, id), uint64(len(body))), body...)
}

// Section numbers.
const (
	secCustom = 0
	secType   = 1
	secFunc   = 3
	secMemory = 5
	secGlobal = 6
	secExport = 7
	secCode   = 10
	secData   = 11
)

// Kinds of exports.
const (
	exportFunc   = 0
	exportMemory = 2
	exportGlobal = 3
)

// Encode gives the module's bytes. The memory is exported as "memory".
func (m *Module) Encode() []byte {
	b := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	types, funcs := m.typeSections()
	b = appendSection(b, secType, types)
	b = appendSection(b, secFunc, funcs)
	mem := binary.AppendUvarint([]byte{1, 1}, uint64(m.MinPages))
	b = appendSection(b, secMemory, binary.AppendUvarint(mem, uint64(m.MaxPages)))
	b = appendSection(b, secGlobal, m.globals())
	b = appendSection(b, secExport, m.exports())
	b = appendSection(b, secCode, m.code())
	if len(m.Data) > 0 {
		b = appendSection(b, secData, m.data())
	}
	return appendSection(b, secCustom, m.names())
}

func (m *Module) typeSections() (types, funcs []byte) {
	seen := map[string]int{}
	var list []byte
	funcs = binary.AppendUvarint(nil, uint64(len(m.Funcs)))
	for _, f := range m.Funcs {
		sig := append([]byte{0x60}, appendTypes(nil, f.Params)...)
		sig = appendTypes(sig, f.Results)
		i, ok := seen[string(sig)]
		if !ok {
			i = len(seen)
			seen[string(sig)] = i
			list = append(list, sig...)
		}
		funcs = binary.AppendUvarint(funcs, uint64(i))
	}
	return append(binary.AppendUvarint(nil, uint64(len(seen))), list...), funcs
}

func appendTypes(b []byte, ts []ValType) []byte {
	b = binary.AppendUvarint(b, uint64(len(ts)))
	for _, t := range ts {
		b = append(b, byte(t))
	}
	return b
}

func (m *Module) globals() []byte {
	b := binary.AppendUvarint(nil, uint64(len(m.Globals)))
	for _, g := range m.Globals {
		mutable := byte(0)
		if g.Mutable {
			mutable = 1
		}
		var c Code
		switch g.Type {
		case I64:
			c.I64(int64(g.Init))
		case F64:
			c.F64(g.Init)
		default:
			c.I32(int32(uint32(g.Init)))
		}
		b = append(b, byte(g.Type), mutable)
		b = append(append(b, c.B...), OpEnd)
	}
	return b
}

func (m *Module) exports() []byte {
	n := 1
	b := append(appendName(nil, "memory"), exportMemory, 0)
	for i, f := range m.Funcs {
		if f.Export != "" {
			n++
			b = binary.AppendUvarint(append(appendName(b, f.Export), exportFunc), uint64(i))
		}
	}
	for i, g := range m.Globals {
		if g.Export != "" {
			n++
			b = binary.AppendUvarint(append(appendName(b, g.Export), exportGlobal), uint64(i))
		}
	}
	return append(binary.AppendUvarint(nil, uint64(n)), b...)
}

func (m *Module) code() []byte {
	b := binary.AppendUvarint(nil, uint64(len(m.Funcs)))
	for _, f := range m.Funcs {
		var runs []byte
		n := 0
		for i := 0; i < len(f.Locals); n++ {
			from := i
			for i < len(f.Locals) && f.Locals[i] == f.Locals[from] {
				i++
			}
			runs = append(binary.AppendUvarint(runs, uint64(i-from)), byte(f.Locals[from]))
		}
		body := append(binary.AppendUvarint(nil, uint64(n)), runs...)
		body = append(append(body, f.Code.B...), OpEnd)
		b = append(binary.AppendUvarint(b, uint64(len(body))), body...)
	}
	return b
}

func (m *Module) data() []byte {
	b := binary.AppendUvarint(nil, uint64(len(m.Data)))
	for _, d := range m.Data {
		var c Code
		c.I32(int32(d.At))
		b = append(append(append(b, 0), c.B...), OpEnd)
		b = append(binary.AppendUvarint(b, uint64(len(d.Bytes))), d.Bytes...)
	}
	return b
}

// Parts of the section of names.
const (
	nameFuncs   = 1
	nameLocals  = 2
	nameGlobals = 7
)

// names is the custom section by which traps and profilers name functions, and people
// what is in them.
func (m *Module) names() []byte {
	var funcs, locals, globals nameMap
	for i, f := range m.Funcs {
		funcs.add(i, appendName(nil, f.Name))
		var inner nameMap
		for k, name := range f.Names {
			inner.add(k, appendName(nil, name))
		}
		if inner.n > 0 {
			locals.add(i, inner.bytes())
		}
	}
	for i, g := range m.Globals {
		if g.Name != "" {
			globals.add(i, appendName(nil, g.Name))
		}
	}
	b := appendSection(appendName(nil, "name"), nameFuncs, funcs.bytes())
	if locals.n > 0 {
		b = appendSection(b, nameLocals, locals.bytes())
	}
	if globals.n > 0 {
		b = appendSection(b, nameGlobals, globals.bytes())
	}
	return b
}

// nameMap is what names belong to, by index.
type nameMap struct {
	n    int
	list []byte
}

func (m *nameMap) add(index int, what []byte) {
	m.n++
	m.list = append(binary.AppendUvarint(m.list, uint64(index)), what...)
}

func (m *nameMap) bytes() []byte { return append(binary.AppendUvarint(nil, uint64(m.n)), m.list...) }
