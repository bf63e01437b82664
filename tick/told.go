package tick

// told is which objects a viewer got by enter or keyframe in its last sends. When a
// rewind shows that what it was told was wrong, it has to be told again, and only
// then. Neighbours by id are noted as one.
type told struct {
	list []toldSpan
	all  uint64 // notes of sends up to this one were lost: anything may have been told
}

// toldSpan is the objects with ids from from to to, or fewer.
type toldSpan struct {
	send     uint64
	from, to uint32
}

// maxTold is how many notes a viewer keeps: those of keyframes in turn take one or two
// a send.
const maxTold = 64

// note notes an object. In one send ids ascend. run tells that it is the next one after
// the last that was noted.
func (t *told) note(id uint32, run bool, send uint64) {
	if n := len(t.list); n > 0 && run {
		if x := &t.list[n-1]; x.send == send && x.to < id {
			x.to = id
			return
		}
	}
	if len(t.list) == maxTold {
		const drop = maxTold / 4
		t.all = t.list[drop-1].send
		t.list = t.list[:copy(t.list, t.list[drop:])]
	}
	t.list = append(t.list, toldSpan{send, id, id})
}

// since reports whether the object may have been told of at send or later.
func (t *told) since(id uint32, send uint64) bool {
	if t.all >= send {
		return true
	}
	for i := len(t.list) - 1; i >= 0 && t.list[i].send >= send; i-- {
		if x := &t.list[i]; x.from <= id && id <= x.to {
			return true
		}
	}
	return false
}

func (t *told) clear() {
	t.list = t.list[:0]
	t.all = 0
}
