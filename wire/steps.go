package wire

import (
	"math"

	"gamehoster/games/schema"
)

// A number that travels as a step is turned into its step with a division, and whoever
// compares what it once was with what it is now, for each viewer and each base, would
// divide again and again. So what is kept of rows for comparing are their images: the
// same bytes in the same places but for such numbers, which have their step as a whole
// number in their place, zeros behind it.
//
//	row     8            12           16      18
//	        | x f32      | y f32      | hp    |
//	image   | q u16 | 0 0| q u16 | 0 0| hp    |
//
// An image is compared bit by bit, and what is in it goes out as it is.

// images is how images of rows are made.
type images struct {
	fields *Fields // as they stand there
	words  []word  // of a row, up to the last with such a number
}

// word is eight bytes of a row.
type word struct {
	same  uint64 // the bits that are the same in an image
	steps []stepAt
}

// stepAt is a number that travels as a step.
type stepAt struct {
	quant schema.Quant
	kind  schema.Kind
	off   int32 // in the row
	shift uint8 // in the word, in bits
}

// newImages is nil where no number travels as a step.
func newImages(ops []op) *images {
	var m images
	list := make([]op, len(ops))
	for i, o := range ops {
		list[i] = o
		if o.code != opQuant {
			continue
		}
		list[i].code = opRaw
		at, shift := int(o.off/8), uint8(o.off%8*8)
		for len(m.words) <= at {
			m.words = append(m.words, word{same: ^uint64(0)})
		}
		w := &m.words[at]
		w.same &^= (1<<(8*o.kind.Size()) - 1) << shift
		w.steps = append(w.steps, stepAt{*o.quant, o.kind, o.off, shift})
	}
	if m.words == nil {
		return nil
	}
	m.fields = newFields(list)
	return &m
}

// image is the word in an image where row has the word x.
func (w *word) image(x uint64, row []byte) uint64 {
	y := x & w.same
	for i := range w.steps {
		s := &w.steps[i]
		var v float64
		if s.kind == schema.F32 { // as nearly all are
			v = float64(math.Float32frombits(uint32(x >> (s.shift & 63))))
		} else {
			v = schema.LoadNumber(s.kind, row[s.off:])
		}
		y |= uint64(s.quant.Encode(v)) << (s.shift & 63)
	}
	return y
}

// Stepped is the same fields as they stand in images: for comparing and appending, not
// for reading. It is f itself where no number travels as a step, and a row is its own
// image.
func (f *Fields) Stepped() *Fields {
	if f.images == nil {
		return f
	}
	return f.images.fields
}

// Image makes the image of a row with fields that are not those of Stepped. image is
// End bytes long or longer; the row has at least its length.
func (f *Fields) Image(image, row []byte) {
	copy(image, row)
	words := f.images.words
	for i := range words {
		le.PutUint64(image[8*i:], words[i].image(le.Uint64(row[8*i:]), row))
	}
}

// NextImage is Image where it is known how the row was last, and old, its image of
// then, so that what is as it was has not to be turned into steps again. It puts the
// row into last, too, and reports whether it is another. All have the length of image,
// which is a multiple of 8, or more.
//
// Words are put together before they are written: to read one of which the parts have
// just been written takes a processor longer.
func (f *Fields) NextImage(image, row, old, last []byte) (another bool) {
	n, words := len(image), f.images.words
	for at := 0; at < n; at += 8 {
		x := wordAt(row, at)
		if x == wordAt(last, at) {
			putWord(image, at, wordAt(old, at))
			continue
		}
		another = true
		putWord(last, at, x)
		if i := at / 8; i < len(words) && words[i].steps != nil {
			x = words[i].image(x, row)
		}
		putWord(image, at, x)
	}
	return another
}
