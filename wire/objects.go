package wire

import (
	"fmt"

	"gamehoster/games/schema"
)

// isPlayer reports whether an id is one of the players' counter: those are odd.
func isPlayer(id uint32) bool { return id&1 == 1 }

// ObjectWriter appends the objects of one message. The zero value starts a list. It
// is a small value; a copy made before an append, with the length of dst, takes the
// append back.
type ObjectWriter struct {
	last uint32
	any  bool
}

// Empty reports whether nothing has been listed.
func (w *ObjectWriter) Empty() bool { return !w.any }

// ID appends an object's id alone: the whole of an entry of a leave message, and in
// the others the start of one whose rest the caller has in wire form. Ids ascend; 0,
// the instance, is for deltas and keyframes only.
func (w *ObjectWriter) ID(dst []byte, id uint32) []byte {
	if w.any && id <= w.last {
		panic(fmt.Sprintf("wire: id %d after %d", id, w.last))
	}
	dst = AppendUvarint(dst, id-w.last)
	w.last, w.any = id, true
	return dst
}

// Whole appends the object in row, of type typ, as viewer sees it.
func (w *ObjectWriter) Whole(dst []byte, s *Schema, typ int, row []byte, viewer uint32) []byte {
	dst = w.ID(dst, le.Uint32(row[schema.RowID:]))
	return s.AppendObject(dst, typ, row, viewer)
}

// AppendObject appends what follows the id of a whole object: type, owner and
// fields. It is the same for all viewers that Schema.Seen gives the same Fields.
func (s *Schema) AppendObject(dst []byte, typ int, row []byte, viewer uint32) []byte {
	dst = AppendUvarint(dst, uint32(typ))
	if at := s.types[typ].owner; at >= 0 {
		dst = AppendUvarint(dst, le.Uint32(row[at:]))
	}
	return s.Seen(typ, Whole, row, viewer).AppendAll(dst, row)
}

// Changes appends an object's id, the mask of the fields that differ between row and
// base, and their values in row. The mask may be empty.
func (w *ObjectWriter) Changes(dst []byte, id uint32, f *Fields, row, base []byte) []byte {
	return f.AppendChanges(w.ID(dst, id), row, base)
}

// Full appends an object's id, a full mask and all values.
func (w *ObjectWriter) Full(dst []byte, id uint32, f *Fields, row []byte) []byte {
	return f.AppendFull(w.ID(dst, id), row)
}

// Masked appends an object's id, the mask given and the values of its fields.
func (w *ObjectWriter) Masked(dst []byte, id uint32, f *Fields, row, mask []byte) []byte {
	return f.AppendMasked(w.ID(dst, id), row, mask)
}

// idReader turns differences back into ids. With any set at the start, id 0 is
// refused.
type idReader struct {
	last uint32
	any  bool
}

func (r *idReader) read(p []byte) ([]byte, error) {
	d, p, err := ReadUvarint(p)
	if err != nil {
		return nil, err
	}
	if d == 0 && r.any {
		return nil, errOrder
	}
	if d > ^r.last {
		return nil, errID
	}
	r.last, r.any = r.last+d, true
	return p, nil
}

// ChangesReader reads the objects of a delta or a keyframe. What an entry holds
// depends on the object's type and owner, which the caller knows by the id:
//
//	for r.Next() {
//		... find the object by r.ID(); stop where there is none
//		r.Read(fields, row)
//	}
//	if err := r.Err(); err != nil ...
type ChangesReader struct {
	ids     idReader
	p       []byte
	pending bool
	err     error
}

// NewChangesReader reads from rest of ParseDelta or ParseKeyframe.
func NewChangesReader(rest []byte) ChangesReader { return ChangesReader{p: rest} }

// Next goes to the next object and reports whether there is one: false at the end
// and after an error.
func (r *ChangesReader) Next() bool {
	if r.err == nil && r.pending {
		r.err = errUnread
	}
	if r.err != nil || len(r.p) == 0 {
		return false
	}
	if r.p, r.err = r.ids.read(r.p); r.err != nil {
		return false
	}
	r.pending = true
	return true
}

// ID is the id of the object that Next went to; 0 for the instance, which can only
// be the first.
func (r *ChangesReader) ID() uint32 { return r.ids.last }

// Read reads the object's mask and values into row; other fields of the row stay. A
// nil row checks the entry and passes over it. The error is also kept for Err.
func (r *ChangesReader) Read(f *Fields, row []byte) error {
	if r.err == nil && r.pending {
		r.pending = false
		r.p, r.err = f.ReadMasked(r.p, row)
	}
	return r.err
}

// Err is what ended the reading early; nil if all of the message was good.
func (r *ChangesReader) Err() error { return r.err }

// Object is the front of a whole object.
type Object struct {
	ID    uint32
	Type  int    // 1 or more
	Owner uint32 // player id; 0 for none and for types without owners
}

// WholeReader reads the objects of a snapshot or an enter.
type WholeReader struct {
	s       *Schema
	viewer  uint32
	ids     idReader
	p       []byte
	object  Object
	fields  *Fields
	pending bool
	err     error
}

// NewWholeReader reads from what follows the header of an enter, or the instance's
// fields of a snapshot. viewer is the player id of the welcome; 0 for a spectator.
func NewWholeReader(s *Schema, viewer uint32, rest []byte) WholeReader {
	return WholeReader{s: s, viewer: viewer, ids: idReader{any: true}, p: rest}
}

// Next goes to the next object and reports whether there is one: false at the end
// and after an error. An object that was not read is checked and passed over.
func (r *WholeReader) Next() bool {
	if r.pending {
		_ = r.Read(nil) // kept in r.err
	}
	if r.err != nil || len(r.p) == 0 {
		return false
	}
	r.err = r.next()
	r.pending = r.err == nil
	return r.pending
}

func (r *WholeReader) next() (err error) {
	if r.p, err = r.ids.read(r.p); err != nil {
		return err
	}
	typ, p, err := ReadUvarint(r.p)
	if err != nil {
		return err
	}
	if typ == schema.InstanceType || typ >= uint32(len(r.s.types)) {
		return errType
	}
	id, own := r.ids.last, uint32(0)
	if isPlayer(id) != (typ == schema.PlayerType) {
		return errID
	}
	if r.s.types[typ].owner >= 0 {
		if own, p, err = ReadUvarint(p); err != nil {
			return err
		}
		if own != 0 && !isPlayer(own) {
			return errOwner
		}
	}
	r.p, r.object = p, Object{id, int(typ), own}
	mine := own == r.viewer || typ == schema.PlayerType && id == r.viewer
	r.fields = r.s.Fields(int(typ), Whole, r.viewer != 0 && mine)
	return nil
}

// Object is the object that Next went to.
func (r *WholeReader) Object() Object { return r.object }

// Read puts the object into row: id, owner and visible fields; all else that the
// row has is left, so that a row not used before has to be zero. A nil row checks
// the object and passes over it. The error is also kept for Err.
func (r *WholeReader) Read(row []byte) error {
	if r.err != nil || !r.pending {
		return r.err
	}
	r.pending = false
	if row != nil {
		le.PutUint32(row[schema.RowID:], r.object.ID)
		if at := r.s.types[r.object.Type].owner; at >= 0 {
			le.PutUint32(row[at:], r.object.Owner)
		}
	}
	r.p, r.err = r.fields.ReadAll(r.p, row)
	return r.err
}

// Err is what ended the reading early; nil if all of the message was good.
func (r *WholeReader) Err() error { return r.err }
