package ticktest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// countOf is the number of rows of a type in a block.
func countOf(l *schema.Layout, block []byte, typ int) int {
	at := l.Types[typ].Counts
	if at < 0 {
		return 1
	}
	return int(le.Uint32(block[at+schema.CountRows:]))
}

func rowOf(l *schema.Layout, block []byte, typ, i int) []byte {
	t := &l.Types[typ]
	at := t.Rows + i*t.Stride
	return block[at : at+t.Stride : at+t.Stride]
}

// find is where an object's row is; typ is -1 if there is none. Id 0 is the
// instance.
func find(l *schema.Layout, block []byte, id uint32) (typ, i int) {
	if id == 0 {
		return schema.InstanceType, 0
	}
	for typ := schema.PlayerType; typ < len(l.Types); typ++ {
		n := countOf(l, block, typ)
		i := sort.Search(n, func(i int) bool { return le.Uint32(rowOf(l, block, typ, i)[schema.RowID:]) >= id })
		if i < n && le.Uint32(rowOf(l, block, typ, i)[schema.RowID:]) == id {
			return typ, i
		}
	}
	return -1, 0
}

func (c *Client) row(typ, i int) []byte       { return rowOf(c.m.layout, c.block, typ, i) }
func (c *Client) find(id uint32) (typ, i int) { return find(c.m.layout, c.block, id) }

// setCount sets the rows, live and sorted counts of a type.
func (c *Client) setCount(typ, n int) {
	at := c.m.layout.Types[typ].Counts
	for _, off := range []int{schema.CountRows, schema.CountLive, schema.CountSorted} {
		le.PutUint32(c.block[at+off:], uint32(n))
	}
}

func (c *Client) remove(typ, i int) {
	t := &c.m.layout.Types[typ]
	n := countOf(c.m.layout, c.block, typ)
	rows := c.block[t.Rows : t.Rows+n*t.Stride]
	copy(rows[i*t.Stride:], rows[(i+1)*t.Stride:])
	clear(rows[(n-1)*t.Stride:])
	c.setCount(typ, n-1)
}

// insert makes a zeroed row in its place; nil if the type is full.
func (c *Client) insert(typ int, id uint32) []byte {
	n := countOf(c.m.layout, c.block, typ)
	if n == c.m.def.Types[typ].Max {
		return nil
	}
	t := &c.m.layout.Types[typ]
	i := sort.Search(n, func(i int) bool { return le.Uint32(c.row(typ, i)[schema.RowID:]) > id })
	rows := c.block[t.Rows : t.Rows+(n+1)*t.Stride]
	copy(rows[(i+1)*t.Stride:], rows[i*t.Stride:n*t.Stride])
	c.setCount(typ, n+1)
	row := c.row(typ, i)
	clear(row)
	return row
}

// Objects is the number of objects held, the instance not counted.
func (c *Client) Objects() int {
	n := 0
	for typ := schema.PlayerType; typ < len(c.m.layout.Types); typ++ {
		n += countOf(c.m.layout, c.block, typ)
	}
	return n
}

// Hash is the state hash of the world.
func (c *Client) Hash() wire.Hash {
	h := wire.NewHash().Fields(c.m.wire.Fields(schema.InstanceType, wire.Shared, false), c.row(schema.InstanceType, 0))
	type object struct {
		id  uint32
		typ int
		row []byte
	}
	var all []object
	for typ := schema.PlayerType; typ < len(c.m.layout.Types); typ++ {
		for i := range countOf(c.m.layout, c.block, typ) {
			row := c.row(typ, i)
			all = append(all, object{le.Uint32(row), typ, row})
		}
	}
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.id, b.id) })
	for _, o := range all {
		h = h.Object(c.m.wire, o.typ, o.row)
	}
	return h
}

// Compare says where the client's world is not what its player may see of the
// server's, which is given by its block in the server's layout; nil if nowhere. What
// the client holds beside the fields that it may see must be zero. Of objects that
// wait for room in a delta, by id, the fields that deltas have may be older. Where
// existence is the server's, the objects are those that holds has, and the instance.
func (c *Client) Compare(server *schema.Layout, block []byte, waiting map[uint32]bool, holds func(id uint32) bool) error {
	if c.Resync {
		return nil
	}
	if holds != nil {
		block = only(server, block, holds)
	}
	w := wire.NewSchema(c.m.def, server)
	if a, b := le.Uint32(block[schema.HeaderTick:]), c.Tick; a != b {
		return fmt.Errorf("the client is at tick %d, the server at %d", b, a)
	}
	for typ := range server.Types {
		have, want := countOf(c.m.layout, c.block, typ), countOf(server, block, typ)
		for i := range max(have, want) {
			var mine, theirs []byte
			if i < have {
				mine = c.row(typ, i)
			}
			if i < want {
				theirs = rowOf(server, block, typ, i)
			}
			if err := c.compare(w, typ, mine, theirs, waiting); err != nil {
				return fmt.Errorf("tick %d: %s %d of %d (the server has %d): %w", c.Tick, c.m.def.Types[typ].Name, i, have, want, err)
			}
		}
	}
	a, b := le.Uint32(block[schema.HeaderNextShared:]), le.Uint32(c.block[schema.HeaderNextShared:])
	if !c.thin && !c.m.view && a != b {
		return fmt.Errorf("tick %d: the next shared id is %d on the server, %d on the client", c.Tick, a, b)
	}
	return nil
}

// only is a copy of a block with only those objects that holds has.
func only(l *schema.Layout, block []byte, holds func(id uint32) bool) []byte {
	block = slices.Clone(block)
	for typ := schema.PlayerType; typ < len(l.Types); typ++ {
		n := 0
		for i := range countOf(l, block, typ) {
			if row := rowOf(l, block, typ, i); holds(le.Uint32(row)) {
				copy(rowOf(l, block, typ, n), row)
				n++
			}
		}
		le.PutUint32(block[l.Types[typ].Counts+schema.CountRows:], uint32(n))
	}
	return block
}

func (c *Client) compare(w *wire.Schema, typ int, mine, theirs []byte, waiting map[uint32]bool) error {
	if mine == nil {
		return fmt.Errorf("id %d is missing", le.Uint32(theirs))
	}
	if theirs == nil {
		return fmt.Errorf("id %d is too many", le.Uint32(mine))
	}
	if a, b := le.Uint32(theirs), le.Uint32(mine); a != b {
		return fmt.Errorf("id is %d, not %d", b, a)
	}
	if a, b := w.Owner(typ, theirs), c.m.wire.Owner(typ, mine); a != b {
		return fmt.Errorf("owner is %d, not %d", b, a)
	}
	subset := wire.Whole
	if waiting[le.Uint32(mine)] {
		if subset = wire.Shared; c.thin {
			return nil
		}
	}
	a := w.Seen(typ, subset, theirs, c.Welcome.Player).AppendAll(nil, theirs)
	b := c.m.wire.Seen(typ, subset, mine, c.Welcome.Player).AppendAll(nil, mine)
	if !bytes.Equal(a, b) {
		return fmt.Errorf("id %d is % x, not % x", le.Uint32(mine), b, a)
	}
	return c.hidden(typ, mine)
}

// hidden says which field a row has that its player may not see; nil for none.
func (c *Client) hidden(typ int, row []byte) error {
	if typ == schema.InstanceType {
		return nil
	}
	l := &c.m.layout.Types[typ]
	owner := c.Welcome.Player != 0 && c.m.wire.Owner(typ, row) == c.Welcome.Player
	for i, f := range c.m.def.Types[typ].Fields {
		if at := l.Offsets[i]; at >= 0 && !f.Visible(owner) {
			v := row[at : at+f.Size()]
			if !bytes.Equal(v, make([]byte, len(v))) && f.Default == 0 && f.Text == "" {
				return fmt.Errorf("id %d holds %s, which the viewer may not see", le.Uint32(row), f.Name)
			}
		}
	}
	return nil
}

// Hidden says what the client holds that its player may not see; nil for nothing.
func (c *Client) Hidden() error {
	for typ := range c.m.layout.Types {
		for i := range countOf(c.m.layout, c.block, typ) {
			if err := c.hidden(typ, c.row(typ, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flip flips a bit of a shared number that the client holds, as a broken memory or
// another rounding would, and reports whether there is one.
func (c *Client) Flip(rng *rand.Rand) bool {
	typ := rng.IntN(len(c.m.layout.Types))
	n := countOf(c.m.layout, c.block, typ)
	fields := c.m.def.Types[typ].Fields
	if n == 0 || len(fields) == 0 {
		return false
	}
	i := rng.IntN(len(fields))
	f, at := fields[i], c.m.layout.Types[typ].Offsets[i]
	if f.Sync != schema.Shared || !f.Kind.Number() || f.Kind == schema.Bool {
		return false
	}
	c.row(typ, rng.IntN(n))[at+rng.IntN(f.Size())] ^= 1 << rng.IntN(8)
	return true
}
