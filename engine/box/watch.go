package box

import (
	"context"
	"time"
)

// Debounce is how long there has to be no write before the catalog looks at what was
// written, and longestBurst how long it lets itself be put off.
const (
	Debounce     = 300 * time.Millisecond
	longestBurst = 3 * time.Second
)

// secondLook is how long after a look that found a change the next one is, at most.
const secondLook = 150 * time.Millisecond

// Watch looks at the games until the context ends: at each period, and after a Poke.
//
//	Poke --> quiet for Debounce --> Refresh --> all as judged? --yes--> wait
//	                                   ^              | no: a change counts when seen twice
//	                                   '- secondLook -'
//
// Others that write into the root, such as rsync, are noticed at the next period.
func (c *Catalog) Watch(ctx context.Context, period time.Duration, apply func(Change)) {
	every := time.NewTicker(period)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		case <-c.board.poked:
			c.calm(ctx)
		}
		for ctx.Err() == nil {
			if err := c.Refresh(apply); err != nil {
				c.log.Error("looking at the games failed", "error", err)
				break
			}
			if !c.board.unsettled() {
				break
			}
			select {
			case <-ctx.Done():
			case <-c.board.poked:
				c.calm(ctx)
			case <-time.After(min(period, secondLook)):
			}
		}
	}
}

// calm waits until nobody has written for Debounce.
func (c *Catalog) calm(ctx context.Context) {
	quiet := time.NewTimer(Debounce)
	defer quiet.Stop()
	enough := time.NewTimer(longestBurst)
	defer enough.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-quiet.C:
			return
		case <-enough.C:
			return
		case <-c.board.poked:
			quiet.Reset(Debounce)
		}
	}
}
