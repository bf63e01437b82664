package wasm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Text writes a module that Encode made in WebAssembly's text format, for people to
// read; tools take it as well.
func Text(module []byte) (text string, err error) {
	// The reader panics where bytes are missing: the modules are our own.
	defer func() {
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("printing a module: %v", r)
		}
	}()
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return "", errors.New("printing a module: it is none")
	}
	t := &texter{exports: map[byte]map[int]string{}, locals: map[int]map[int]string{}}
	sections := map[byte]reader{}
	for r := (reader{module[8:]}); len(r.b) > 0; {
		id := r.byte()
		sections[id] = reader{r.take(r.uint())}
	}
	t.readNames(sections[secCustom])
	t.readExports(sections[secExport])
	t.line("(module")
	t.depth++
	t.memory(sections[secMemory])
	t.globals(sections[secGlobal])
	t.funcs(sections[secType], sections[secFunc], sections[secCode])
	t.data(sections[secData])
	t.depth--
	t.line(")")
	return t.out.String(), nil
}

// reader takes a module's bytes apart. It panics at the end.
type reader struct{ b []byte }

func (r *reader) take(n int) []byte {
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) byte() byte { return r.take(1)[0] }

func (r *reader) uint() int {
	v, n := binary.Uvarint(r.b)
	r.take(max(n, 1))
	return int(v)
}

func (r *reader) int() int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			if shift += 7; shift < 64 && c&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
}

func (r *reader) text() string { return string(r.take(r.uint())) }

func (r *reader) types() (list []string) {
	for range r.uint() {
		list = append(list, valTypes[ValType(r.byte())])
	}
	return list
}

var valTypes = map[ValType]string{I32: "i32", I64: "i64", F32: "f32", F64: "f64"}

type texter struct {
	out     strings.Builder
	depth   int
	names   map[int]string         // of functions
	locals  map[int]map[int]string // of each function's parameters and locals; some have none
	named   map[int]string         // globals that have names
	global  []string
	vars    map[int]string // locals of the function that is being written
	exports map[byte]map[int]string
}

func (t *texter) line(format string, args ...any) {
	t.out.WriteString(strings.Repeat("  ", t.depth))
	fmt.Fprintf(&t.out, format, args...)
	t.out.WriteByte('\n')
}

func (t *texter) readNames(r reader) {
	if len(r.b) == 0 || r.text() != "name" {
		return
	}
	for len(r.b) > 0 {
		id := r.byte()
		part := reader{r.take(r.uint())}
		switch id {
		case nameFuncs:
			t.names = part.names()
		case nameLocals:
			for range part.uint() {
				i := part.uint()
				t.locals[i] = part.names()
			}
		case nameGlobals:
			t.named = part.names()
		}
	}
}

// names takes names by index. Those that are there again get numbers, and what the text
// format does not take for a part of a name becomes a line.
func (r *reader) names() map[int]string {
	list, used := map[int]string{}, map[string]int{}
	for range r.uint() {
		i, name := r.uint(), strings.Map(func(c rune) rune {
			if c <= ' ' || c > '~' || strings.ContainsRune("\"(),;[]{}", c) {
				return '_'
			}
			return c
		}, r.text())
		if used[name]++; used[name] > 1 {
			name += "." + strconv.Itoa(used[name])
		}
		list[i] = name
	}
	return list
}

func (t *texter) readExports(r reader) {
	if len(r.b) == 0 {
		return
	}
	for range r.uint() {
		name := r.text()
		kind := r.byte()
		if t.exports[kind] == nil {
			t.exports[kind] = map[int]string{}
		}
		t.exports[kind][r.uint()] = name
	}
}

// export is the clause of what is exported.
func (t *texter) export(kind byte, i int) string {
	if name, ok := t.exports[kind][i]; ok {
		return fmt.Sprintf(" (export %q)", name)
	}
	return ""
}

func (t *texter) memory(r reader) {
	r.uint()
	r.byte()
	least, most := r.uint(), r.uint()
	t.line("(memory%s %d %d)", t.export(exportMemory, 0), least, most)
}

func (t *texter) globals(r reader) {
	for i := range r.uint() {
		typ, form := valTypes[ValType(r.byte())], "%s"
		mutable := r.byte() == 1
		first := t.instruction(&r)
		r.byte() // end
		if mutable {
			form = "(mut %s)"
		}
		t.global = append(t.global, t.globalName(i, mutable, first))
		t.line("(global %s%s "+form+" (%s))", t.global[i], t.export(exportGlobal, i), typ, first)
	}
}

// globalName names a global: as it is exported, a constant by its value.
func (t *texter) globalName(i int, mutable bool, first string) string {
	if name, ok := t.exports[exportGlobal][i]; ok {
		return "$" + name
	}
	if name, ok := t.named[i]; ok {
		return "$" + name
	}
	if _, value, ok := strings.Cut(first, " "); ok && !mutable {
		return "$" + value
	}
	return "$global" + strconv.Itoa(i)
}

// signature is the types of a function.
type signature struct{ params, results []string }

func (t *texter) funcs(types, funcs, code reader) {
	var signatures []signature
	for range types.uint() {
		types.byte()
		signatures = append(signatures, signature{types.types(), types.types()})
	}
	code.uint()
	for i := range funcs.uint() {
		t.vars = t.locals[i]
		s := signatures[funcs.uint()]
		result := ""
		if len(s.results) > 0 {
			result = " (result " + strings.Join(s.results, " ") + ")"
		}
		t.line("(func $%s%s%s%s", t.names[i], t.export(exportFunc, i), t.declare("param", 0, s.params), result)
		t.depth++
		body := reader{code.take(code.uint())}
		var locals []string
		for range body.uint() {
			n := body.uint()
			name := valTypes[ValType(body.byte())]
			for range n {
				locals = append(locals, name)
			}
		}
		if len(locals) > 0 {
			t.line("%s", t.declare("local", len(s.params), locals)[1:])
		}
		t.body(&body)
		t.depth--
		t.line(")")
	}
}

// declare declares variables, those from first on: each by its name, or all together
// where they have none.
func (t *texter) declare(what string, first int, types []string) string {
	switch {
	case len(types) == 0:
		return ""
	case t.vars == nil:
		return " (" + what + " " + strings.Join(types, " ") + ")"
	}
	var b strings.Builder
	for i, typ := range types {
		fmt.Fprintf(&b, " (%s %s %s)", what, t.variable(first+i), typ)
	}
	return b.String()
}

// variable is a local by its name, or its number.
func (t *texter) variable(i int) string {
	if name, ok := t.vars[i]; ok {
		return "$" + name
	}
	return strconv.Itoa(i)
}

// body writes instructions, one a line, blocks indented.
func (t *texter) body(r *reader) {
	for len(r.b) > 1 { // the last is the function's end
		switch op := r.b[0]; op {
		case OpEnd, OpElse:
			r.byte()
			t.depth--
			if op == OpEnd {
				t.line("end")
			} else {
				t.line("else")
				t.depth++
			}
		case OpBlock, OpLoop, OpIf:
			t.line("%s", t.instruction(r))
			t.depth++
		default:
			t.line("%s", t.instruction(r))
		}
	}
}

var structure = map[byte]string{
	OpUnreachable: "unreachable", OpBlock: "block", OpLoop: "loop", OpIf: "if", OpReturn: "return", OpDrop: "drop", OpSelect: "select",
}

var jumps = map[byte]string{OpBr: "br", OpBrIf: "br_if"}

var variables = map[byte]string{
	OpLocalGet: "local.get", OpLocalSet: "local.set", OpLocalTee: "local.tee",
}

// accesses are the loads and stores from 0x28 on, plain the operators from 0x45 on,
// prefixed those behind OpPrefix.
var (
	accesses = strings.Fields(`i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u
		i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u
		i32.store i64.store f32.store f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32`)
	plain = strings.Fields(`i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u
		i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u
		f32.eq f32.ne f32.lt f32.gt f32.le f32.ge f64.eq f64.ne f64.lt f64.gt f64.le f64.ge
		i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u i32.and i32.or i32.xor
		i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr
		i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u i64.and i64.or i64.xor
		i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr
		f32.abs f32.neg f32.ceil f32.floor f32.trunc f32.nearest f32.sqrt f32.add f32.sub f32.mul f32.div f32.min f32.max f32.copysign
		f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt f64.add f64.sub f64.mul f64.div f64.min f64.max f64.copysign
		i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u i64.extend_i32_s i64.extend_i32_u
		i64.trunc_f32_s i64.trunc_f32_u i64.trunc_f64_s i64.trunc_f64_u
		f32.convert_i32_s f32.convert_i32_u f32.convert_i64_s f32.convert_i64_u f32.demote_f64
		f64.convert_i32_s f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32
		i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64
		i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s`)
	prefixed = strings.Fields(`i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u
		i64.trunc_sat_f32_s i64.trunc_sat_f32_u i64.trunc_sat_f64_s i64.trunc_sat_f64_u
		memory.init data.drop memory.copy memory.fill`)
)

// instruction takes one instruction and gives its text.
func (t *texter) instruction(r *reader) string {
	op := r.byte()
	switch {
	case op == OpBlock || op == OpLoop || op == OpIf:
		if result := r.byte(); result != BlockVoid {
			return structure[op] + " (result " + valTypes[ValType(result)] + ")"
		}
		return structure[op]
	case structure[op] != "":
		return structure[op]
	case jumps[op] != "":
		return fmt.Sprintf("%s %d", jumps[op], r.uint())
	case variables[op] != "":
		return variables[op] + " " + t.variable(r.uint())
	case op == OpCall:
		return "call $" + t.names[r.uint()]
	case op == OpGlobalGet:
		return "global.get " + t.global[r.uint()]
	case op == OpGlobalSet:
		return "global.set " + t.global[r.uint()]
	case op == OpI32Const:
		return fmt.Sprintf("i32.const %d", r.int())
	case op == OpI64Const:
		return fmt.Sprintf("i64.const %d", r.int())
	case op == OpF32Const:
		return "f32.const " + float(float64(math.Float32frombits(binary.LittleEndian.Uint32(r.take(4)))), 32)
	case op == OpF64Const:
		return "f64.const " + float(math.Float64frombits(binary.LittleEndian.Uint64(r.take(8))), 64)
	case op >= 0x28 && int(op-0x28) < len(accesses):
		name, align := accesses[op-0x28], r.uint()
		if off := r.uint(); off > 0 {
			name += fmt.Sprintf(" offset=%d", off)
		}
		return fmt.Sprintf("%s align=%d", name, 1<<align)
	case op >= 0x45 && int(op-0x45) < len(plain):
		return plain[op-0x45]
	case op == OpPrefix:
		n := r.uint()
		switch name := prefixed[n]; name {
		case "memory.copy":
			r.take(2)
			return name
		case "memory.fill":
			r.take(1)
			return name
		default:
			return name
		}
	}
	panic(fmt.Sprintf("there is no instruction %#x", op))
}

// float writes a number as the text format has it.
func float(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strconv.FormatFloat(v, 'f', -1, bits))
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

func (t *texter) data(r reader) {
	if len(r.b) == 0 {
		return
	}
	for range r.uint() {
		r.byte()
		at := t.instruction(&r)
		r.byte() // end
		var b strings.Builder
		for _, c := range r.take(r.uint()) {
			if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "\\%02x", c)
			}
		}
		t.line("(data (%s) \"%s\")", at, b.String())
	}
}
