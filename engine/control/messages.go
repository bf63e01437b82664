package control

import "gamehoster/engine/worker"

// The fields of each message, in the order in which they stand in it.

func (m *Start) Kind() Kind    { return KindStart }
func (m *Start) put(w *writer) { w.u32(m.Shard) }
func (m *Start) get(r *reader) { m.Shard = r.u32() }

func (m *Seat) Kind() Kind { return KindSeat }

func (m *Seat) put(w *writer) {
	w.u64(m.Number)
	w.reservation(&m.Reservation)
	w.bytes(m.Early, MaxEarly)
}

func (m *Seat) get(r *reader) {
	m.Number = r.u64()
	r.reservation(&m.Reservation)
	m.Early = r.bytes(MaxEarly)
}

func (m *Reseated) Kind() Kind { return KindReseated }

func (m *Reseated) put(w *writer) {
	w.u32(m.Ticket)
	w.bool(m.OK)
	w.reservation(&m.Reservation)
}

func (m *Reseated) get(r *reader) {
	m.Ticket = r.u32()
	m.OK = r.bool()
	r.reservation(&m.Reservation)
}

func (m *Retired) Kind() Kind    { return KindRetired }
func (m *Retired) put(w *writer) { w.u32(uint32(m.Instance)) }
func (m *Retired) get(r *reader) { m.Instance = worker.InstanceID(r.u32()) }

func (m *Drain) Kind() Kind  { return KindDrain }
func (m *Drain) put(*writer) {}
func (m *Drain) get(*reader) {}

func (m *Drop) Kind() Kind { return KindDrop }

func (m *Drop) put(w *writer) {
	w.u16(m.Code)
	w.text(m.Reason, maxReason)
}

func (m *Drop) get(r *reader) {
	m.Code = r.u16()
	m.Reason = r.text(maxReason)
}

func (m *Inspect) Kind() Kind    { return KindInspect }
func (m *Inspect) put(w *writer) { w.u32(m.Ticket) }
func (m *Inspect) get(r *reader) { m.Ticket = r.u32() }

func (m *End) Kind() Kind { return KindEnd }

func (m *End) put(w *writer) {
	w.u16(m.Code)
	w.text(m.Reason, maxReason)
}

func (m *End) get(r *reader) {
	m.Code = r.u16()
	m.Reason = r.text(maxReason)
}

func (m *Hello) Kind() Kind    { return KindHello }
func (m *Hello) put(w *writer) { w.u64(m.Hash) }
func (m *Hello) get(r *reader) { m.Hash = r.u64() }

func (m *Claimed) Kind() Kind    { return KindClaimed }
func (m *Claimed) put(w *writer) { w.u64(m.Number) }
func (m *Claimed) get(r *reader) { m.Number = r.u64() }

func (m *Lost) Kind() Kind    { return KindLost }
func (m *Lost) put(w *writer) { w.u64(m.Number) }
func (m *Lost) get(r *reader) { m.Number = r.u64() }

func (m *Reseat) Kind() Kind { return KindReseat }

func (m *Reseat) put(w *writer) {
	w.u32(m.Ticket)
	w.reservation(&m.Reservation)
}

func (m *Reseat) get(r *reader) {
	m.Ticket = r.u32()
	r.reservation(&m.Reservation)
}

func (m *Release) Kind() Kind    { return KindRelease }
func (m *Release) put(w *writer) { w.u32(uint32(m.Instance)) }
func (m *Release) get(r *reader) { m.Instance = worker.InstanceID(r.u32()) }

func (m *Open) Kind() Kind { return KindOpen }

func (m *Open) put(w *writer) {
	w.u32(uint32(m.Instance))
	w.bool(m.Open)
}

func (m *Open) get(r *reader) {
	m.Instance = worker.InstanceID(r.u32())
	m.Open = r.bool()
}

func (m *Retire) Kind() Kind { return KindRetire }

func (m *Retire) put(w *writer) {
	w.u32(uint32(m.Instance))
	w.bool(m.Force)
}

func (m *Retire) get(r *reader) {
	m.Instance = worker.InstanceID(r.u32())
	m.Force = r.bool()
}

func (m *Closed) Kind() Kind { return KindClosed }

func (m *Closed) put(w *writer) {
	w.reservation(&m.Reservation)
	w.u32(m.Player)
	w.u16(m.Code)
	w.text(m.Reason, maxReason)
	w.duration(m.Duration)
	w.u64(m.BytesIn)
	w.u64(m.BytesOut)
}

func (m *Closed) get(r *reader) {
	r.reservation(&m.Reservation)
	m.Player = r.u32()
	m.Code = r.u16()
	m.Reason = r.text(maxReason)
	m.Duration = r.duration()
	m.BytesIn = r.u64()
	m.BytesOut = r.u64()
}

func (m *Load) Kind() Kind { return KindLoad }

// counts are the numbers that a Load has no other form for.
func (m *Load) counts() [8]*uint64 {
	return [...]*uint64{&m.Adopted, &m.Gone, &m.Overflows, &m.Expired, &m.BytesIn, &m.BytesOut, &m.Dropped, &m.Memory}
}

func (m *Load) put(w *writer) {
	w.u32(m.Instances)
	w.u32(m.Players)
	w.u32(m.Sockets)
	for _, v := range m.counts() {
		w.u64(*v)
	}
	w.times(&m.Late)
	w.times(&m.Took)
	w.bytes(m.Counts, MaxReport)
}

func (m *Load) get(r *reader) {
	m.Instances = r.u32()
	m.Players = r.u32()
	m.Sockets = r.u32()
	for _, v := range m.counts() {
		*v = r.u64()
	}
	r.times(&m.Late)
	r.times(&m.Took)
	m.Counts = r.bytes(MaxReport)
}

func (m *Inspected) Kind() Kind { return KindInspected }

func (m *Inspected) put(w *writer) {
	w.u32(m.Ticket)
	w.bool(m.More)
	w.bytes(m.Part, MaxReport)
}

func (m *Inspected) get(r *reader) {
	m.Ticket = r.u32()
	m.More = r.bool()
	m.Part = r.bytes(MaxReport)
}

func (m *Bye) Kind() Kind  { return KindBye }
func (m *Bye) put(*writer) {}
func (m *Bye) get(*reader) {}
