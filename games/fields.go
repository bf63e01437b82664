package games

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gamehoster/games/internal/posjson"
	"gamehoster/games/schema"
)

// word is a string of the definition and where it stands; absent while at is negative.
type word struct {
	text string
	at   int
}

func (w word) given() bool { return w.at >= 0 }

// fieldSource is what the author wrote about a field, whichever form was used.
type fieldSource struct {
	name                         string
	at                           int // of the name
	kind, sync, audience, smooth word
	snap, preset, step, min, max *posjson.Value
	command                      bool // it is a command's
	unread                       bool // a word of it was not understood: what it lacks may be that one
}

// Words of the short form, after the type.
var shortWords = []string{"server", "sent", "shared", "all", "owner", "smooth", "angle"}

var kindWords = []string{"bool", "i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64", "str(32)", "ref(TYPE)"}

// What people write who know the types of other languages.
var kindAliases = map[string]string{
	"boolean": "bool", "number": "f32", "float": "f32", "float32": "f32", "double": "f64", "float64": "f64",
	"int": "i32", "integer": "i32", "uint": "u32", "byte": "u8", "int8": "i8", "uint8": "u8", "int16": "i16",
	"uint16": "u16", "int32": "i32", "uint32": "u32", "string": "str(32)", "text": "str(32)", "str": "str(32)",
	"ref": "ref(TYPE)", "i64": "f64", "u64": "f64",
}

// fields reads the fields of a type or, where t is nil, of a command.
func (c *checker) fields(v *posjson.Value, t *schema.Type) []*schema.Field {
	if v = c.kind(v, posjson.Object, "fields"); v == nil {
		return nil
	}
	limit := maxFields
	if t != nil && t.Index == schema.PlayerType {
		limit-- // the name
	}
	if len(v.Members) > limit {
		c.errorf(v.Members[limit].Offset, "there are %d fields, more than %d", len(v.Members), limit)
		return nil
	}
	var fields []*schema.Field
	for _, m := range v.Members {
		c.fieldName(m, t)
		src := fieldSource{name: short(m.Key), at: m.Offset, kind: word{at: -1}, sync: word{at: -1}, audience: word{at: -1}, smooth: word{at: -1}, command: t == nil}
		switch m.Value.Kind {
		case posjson.String:
			c.shortForm(&src, m.Value)
		case posjson.Object:
			c.longForm(&src, m.Value)
		default:
			c.errorf(m.Value.Offset, `a field is a string such as "f32 shared" or an object with a "type", not %s`, m.Value.Kind)
			src.kind.at = m.Value.Offset
			src.kind.text = "f32"
		}
		f := &schema.Field{Name: m.Key, Min: math.Inf(-1), Max: math.Inf(1)}
		fields = append(fields, f)
		if !c.fieldKind(f, &src) {
			continue
		}
		if t == nil {
			c.commandField(f, &src)
		} else {
			c.stateField(f, &src, t)
		}
	}
	return fields
}

func (c *checker) fieldName(m posjson.Member, t *schema.Type) {
	name := m.Key
	bad := identifier(name)
	switch {
	case bad != "":
		c.errorf(m.Offset, "the field name %.70q %s", name, bad)
	case t == nil:
	case rowMembers[name]:
		c.errorf(m.Offset, "every object has %q already; the field needs another name", name)
	case t.Index == schema.InstanceType && instanceMembers[name]:
		c.errorf(m.Offset, "every game has %q already; the field needs another name", name)
	case t.Index == schema.PlayerType && name == schema.PlayerName:
		c.errorf(m.Offset, "every player has %q already, a str(%d) from the socket's address that server bodies can read; "+
			"to show it to others, copy it to a sent field of another name in join", name, schema.MaxPlayerName)
	}
}

// shortForm reads "TYPE word word".
func (c *checker) shortForm(src *fieldSource, v *posjson.Value) {
	for i, n := 0, 0; i < len(v.Text); n++ {
		if v.Text[i] == ' ' {
			i++
			n--
			continue
		}
		end := i
		for end < len(v.Text) && v.Text[end] != ' ' {
			end++
		}
		w := word{v.Text[i:end], v.Inner(i)}
		i = end
		if n == 0 {
			src.kind = w
			continue
		}
		var slot *word
		switch w.text {
		case "server", "sent", "shared":
			slot = &src.sync
		case "all", "owner":
			slot = &src.audience
		case "smooth", "angle":
			slot = &src.smooth
		default:
			way := didYouMean(w.text, shortWords)
			if way == "" {
				way = "; what else a field has takes the long form, an object"
			}
			c.errorf(w.at, "%q is no word of a field%s", short(w.text), way)
			src.unread = true
			continue
		}
		if slot.given() && !(slot.text == "smooth" && w.text == "angle") {
			c.errorf(w.at, "%q contradicts or repeats %q", w.text, slot.text)
			continue
		}
		*slot = w
	}
	if !src.kind.given() {
		src.kind.at = v.Offset
	}
}

func (c *checker) longForm(src *fieldSource, v *posjson.Value) {
	what := "field " + src.name
	all := []string{"type", "sync", "audience", "smooth", "snap", "default", "step", "min", "max"}
	if src.command {
		c.members(v, what, []string{"type", "min", "max"}, all) // why it has no others is told later
	} else {
		c.members(v, what, all, nil)
	}
	text := func(key string) word {
		if s := c.kind(v.Get(key), posjson.String, what+"'s "+key); s != nil {
			return word{s.Text, s.Offset}
		}
		return word{at: -1}
	}
	src.kind = text("type")
	if v.Get("type") == nil {
		c.errorf(src.at, "%s has no type", what)
	}
	src.sync = c.oneOf(text("sync"), what+"'s sync", "server", "sent", "shared")
	src.unread = v.Get("sync") != nil && !src.sync.given()
	src.audience = c.oneOf(text("audience"), what+"'s audience", "all", "owner")
	if s := v.Get("smooth"); s != nil {
		switch {
		case s.Kind == posjson.Bool && s.Bool:
			src.smooth = word{"smooth", s.Offset}
		case s.Kind == posjson.Bool:
		case s.Kind == posjson.String && s.Text == "angle":
			src.smooth = word{"angle", s.Offset}
		default:
			c.errorf(s.Offset, `%s's smooth must be true, false or "angle"`, what)
		}
	}
	src.snap, src.preset, src.step, src.min, src.max = v.Get("snap"), v.Get("default"), v.Get("step"), v.Get("min"), v.Get("max")
}

func (c *checker) oneOf(w word, what string, known ...string) word {
	if w.given() && !slices.Contains(known, w.text) {
		c.errorf(w.at, "%s must be %s, not %q%s", what, strings.Join(known, " or "), short(w.text), didYouMean(w.text, known))
		return word{at: -1}
	}
	return w
}

// fieldKind reads the type. It reports whether there is one to go on with.
func (c *checker) fieldKind(f *schema.Field, src *fieldSource) bool {
	w := src.kind
	if !w.given() {
		return false // said already
	}
	for k := schema.Bool; k <= schema.F64; k++ {
		if k.String() == w.text {
			f.Kind = k
			return true
		}
	}
	if arg, ok := call(w.text, "str"); ok {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 || n > 255 || arg[0] == '+' {
			c.errorf(w.at, "a str has room for 1 to 255 bytes, as in str(32), not %q", short(arg))
			return false
		}
		f.Kind, f.Len = schema.Str, n
		return true
	}
	if arg, ok := call(w.text, "ref"); ok {
		f.Kind, f.Ref = schema.Ref, c.entities[arg]
		switch {
		case arg == "player":
			f.Ref = schema.PlayerType
		case arg == "instance":
			c.errorf(w.at, "there is no ref to the instance: every body has it as game")
			return false
		case f.Ref == 0:
			known := []string{"player"}
			for name := range c.entities {
				known = append(known, name)
			}
			slices.Sort(known)
			c.errorf(w.at, "ref(%s) names no type%s", short(arg), didYouMean(arg, known))
			return false
		}
		return true
	}
	way := didYouMean(w.text, kindWords)
	if alias := kindAliases[strings.ToLower(w.text)]; alias != "" {
		way = `; did you mean "` + alias + `"?`
	}
	if way == "" {
		way = "; types are " + strings.Join(kindWords, ", ")
	}
	c.errorf(w.at, "%q is no type%s", short(w.text), way)
	return false
}

// call takes name(arg) apart.
func call(text, name string) (arg string, ok bool) {
	rest, ok := strings.CutPrefix(text, name+"(")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, ")")
}

func (c *checker) stateField(f *schema.Field, src *fieldSource, t *schema.Type) {
	switch src.sync.text {
	case "sent":
		f.Sync = schema.Sent
	case "shared":
		f.Sync = schema.Shared
	}
	if src.audience.text == "owner" {
		f.Audience = schema.Owner
		switch {
		case f.Sync == schema.Shared:
			c.errorf(src.audience.at, "%s cannot be shared with its owner only: the other clients run the same bodies and could not reproduce it; declare it sent", src.name)
		case f.Sync == schema.Server && !src.unread:
			c.errorf(src.audience.at, "%s is a server field, which reaches nobody; declare it sent", src.name)
		case t.Index == schema.InstanceType:
			c.errorf(src.audience.at, "the instance has no owner; move %s to the player", src.name)
		case t.Index != schema.PlayerType && !t.Owned:
			c.errorf(src.audience.at, `%s objects have no owner; declare the entity "owned": true`, short(t.Name))
		}
	}
	if src.smooth.given() {
		f.Smooth = schema.Linear
		if src.smooth.text == "angle" {
			f.Smooth = schema.Angle
		}
		switch {
		case !f.Kind.Number():
			c.errorf(src.smooth.at, "only numbers are smooth, and %s is %s", src.name, f.Kind)
		case f.Smooth == schema.Angle && f.Kind.Integer():
			c.errorf(src.smooth.at, "an angle is f32 or f64, in radians, and %s is %s", src.name, f.Kind)
		case f.Sync == schema.Server && !src.unread:
			c.errorf(src.smooth.at, "%s is a server field, which nobody draws; declare it sent or shared", src.name)
		}
	}
	if src.snap != nil {
		f.Snap = c.number(src.snap, src.name+"'s snap", 0, 0, 1e300, false)
		if !src.smooth.given() {
			c.errorf(src.snap.Offset, "snap says from which distance on a smooth field jumps, and %s is not smooth", src.name)
		}
	}
	c.quant(f, src)
	c.preset(f, src)
}

func (c *checker) commandField(f *schema.Field, src *fieldSource) {
	for _, w := range []struct {
		word
		key string
	}{{src.sync, "sync"}, {src.audience, "audience"}, {src.smooth, "smooth"}} {
		if w.given() {
			c.errorf(w.at, "a command's field travels once, from a player to the server; it has no %s", w.key)
		}
	}
	for _, v := range []struct {
		value *posjson.Value
		key   string
	}{{src.snap, "snap"}, {src.preset, "default"}, {src.step, "step"}} {
		if v.value != nil {
			c.errorf(v.value.Offset, "a command's field has no %s", v.key)
		}
	}
	if c.bounds(f, src) && f.Kind == schema.F32 {
		// A client sends the nearest f32, which must not lie outside by rounding.
		f.Min, f.Max = float64(float32(f.Min)), float64(float32(f.Max))
	}
}

// limits are the least and the greatest value of a number type.
func limits(k schema.Kind) (lo, hi float64) {
	switch k {
	case schema.I8, schema.I16, schema.I32:
		half := math.Ldexp(1, 8*k.Size()-1)
		return -half, half - 1
	case schema.U8, schema.U16, schema.U32:
		return 0, math.Ldexp(1, 8*k.Size()) - 1
	case schema.F32:
		return -math.MaxFloat32, math.MaxFloat32
	}
	return -math.MaxFloat64, math.MaxFloat64
}

// bounds reads min and max and reports whether they can be used.
func (c *checker) bounds(f *schema.Field, src *fieldSource) bool {
	if src.min == nil && src.max == nil {
		return true
	}
	good := true
	for _, b := range []struct {
		value *posjson.Value
		key   string
		to    *float64
	}{{src.min, "min", &f.Min}, {src.max, "max", &f.Max}} {
		if b.value == nil {
			continue
		}
		if !f.Kind.Number() {
			c.errorf(b.value.Offset, "only numbers have a %s, and %s is %s", b.key, src.name, f.Kind)
			return false
		}
		before := len(c.list)
		lo, hi := limits(f.Kind)
		*b.to = c.number(b.value, src.name+"'s "+b.key, *b.to, lo, hi, f.Kind.Integer())
		good = good && before == len(c.list)
	}
	if good && f.Min > f.Max {
		c.errorf(src.max.Offset, "%s's max %s is less than its min %s", src.name, plain(f.Max), plain(f.Min))
		return false
	}
	return good
}

// quant reads step, min and max of a state field.
func (c *checker) quant(f *schema.Field, src *fieldSource) {
	if src.step == nil {
		for _, v := range []*posjson.Value{src.min, src.max} {
			if v != nil {
				c.errorf(v.Offset, "min and max of a state field only say how it is sent with a step, and %s has none", src.name)
			}
		}
		return
	}
	at := src.step.Offset
	switch {
	case !f.Kind.Number():
		c.errorf(at, "only numbers have a step, and %s is %s", src.name, f.Kind)
		return
	case f.Sync != schema.Sent:
		c.errorf(at, "a step says how a sent field travels, and %s is %s", src.name, f.Sync)
	case src.min == nil || src.max == nil:
		c.errorf(at, "a step needs min and max")
	}
	if !c.bounds(f, src) || src.min == nil || src.max == nil {
		return
	}
	q := &schema.Quant{Step: c.number(src.step, src.name+"'s step", 1, 0, math.MaxFloat64, f.Kind.Integer()), Min: f.Min, Max: f.Max}
	steps := math.Floor((q.Max-q.Min)/q.Step + 0.5)
	switch {
	case q.Step == 0:
		c.errorf(at, "%s's step is zero", src.name)
	case q.Step > q.Max-q.Min:
		c.errorf(at, "%s's step is larger than the whole range from min to max", src.name)
	case !(steps <= math.MaxUint32):
		c.errorf(at, "%s has more than 2^32 steps from min to max; a larger step or a smaller range is needed", src.name)
	case f.Kind.Integer() && math.Mod(q.Max-q.Min, q.Step) != 0:
		c.errorf(at, "%s is a whole number, so max - min must be a multiple of step", src.name)
	default:
		q.Bytes = 4
		if steps <= math.MaxUint8 {
			q.Bytes = 1
		} else if steps <= math.MaxUint16 {
			q.Bytes = 2
		}
		f.Quant = q
	}
}

// preset reads the default.
func (c *checker) preset(f *schema.Field, src *fieldSource) {
	v := src.preset
	if v == nil {
		return
	}
	what := src.name + "'s default"
	switch f.Kind {
	case schema.Ref:
		c.errorf(v.Offset, "a ref has no default: it begins as null")
	case schema.Bool:
		if v = c.kind(v, posjson.Bool, what); v != nil && v.Bool {
			f.Default = 1
		}
	case schema.Str:
		if v = c.kind(v, posjson.String, what); v == nil {
			return
		}
		if len(v.Text) > f.Len || !utf8.ValidString(v.Text) {
			c.errorf(v.Offset, "%s takes %d bytes, more than the %d of its type", what, len(v.Text), f.Len)
			return
		}
		f.Text = v.Text
	default:
		lo, hi := limits(f.Kind)
		if f.Quant != nil {
			lo, hi = f.Min, f.Max
		}
		f.Default = c.number(v, what, 0, lo, hi, f.Kind.Integer())
	}
}

// plain writes a number as an author would.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
