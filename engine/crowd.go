package engine

import "runtime/debug"

// crowd watches things come and go of which many take some megabytes. What they have taken
// of the heap the runtime keeps, and gives back over minutes, if at all: it is collected
// when something is allocated, and a server that is left alone allocates nothing.
type crowd struct {
	worth int64 // so many are a crowd
	most  int64 // at once, since memory was given back
}

// The crowds of a box.
const (
	manySockets   = 1024
	manyInstances = 256
)

// left reports, of how many there are now, that most of a crowd has left since it last
// reported that.
func (c *crowd) left(now int64) bool {
	c.most = max(c.most, now)
	if c.most < c.worth || now > c.most/4 {
		return false
	}
	c.most = now
	return true
}

// tidy gives memory back when most sockets are gone, and again when their instances are.
// It takes some milliseconds of another thread than the loops', which it does not stop.
func (b *Box) tidy() {
	instances := int64(0)
	b.versions.each(func(v *version) { instances += int64(v.Table.Load().Instances) })
	left := b.sockets.left(b.open.Load())
	if b.instances.left(instances) || left {
		debug.FreeOSMemory()
	}
}
