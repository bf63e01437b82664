package worker

// Crowd watches things come and go of which many take some megabytes. What they have taken
// of the heap the runtime keeps, and gives back over minutes, if at all: it is collected
// when something is allocated, and a process that is left alone allocates nothing.
type Crowd struct {
	Worth int64 // so many are a crowd
	most  int64 // at once, since memory was given back
}

// What makes a crowd.
const (
	ManySockets   = 1024
	ManyInstances = 256
)

// Left reports, of how many there are now, that most of a crowd has left since it last
// reported that.
func (c *Crowd) Left(now int64) bool {
	c.most = max(c.most, now)
	if c.most < c.Worth || now > c.most/4 {
		return false
	}
	c.most = now
	return true
}
