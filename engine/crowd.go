package engine

import "runtime/debug"

// tidy gives memory back when most sockets are gone, and again when their instances are.
// It takes some milliseconds of another thread than the loops', which it does not stop.
func (b *Box) tidy() {
	instances := int64(0)
	b.versions.each(func(v *version) { instances += int64(v.Table.Load().Instances) })
	left := b.sockets.Left(b.open.Load())
	if b.instances.Left(instances) || left {
		debug.FreeOSMemory()
	}
}
