package looptest

import (
	"testing"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// ordered is a message of one of several posters.
type ordered struct{ from, n int }

// posted is a handler for ordered messages on top of a rig.
type posted struct {
	rig
	got  [8]int
	bad  int
	full chan struct{}
	want int
	sum  int
}

func (p *posted) OnPost(m loop.Message) {
	o, ok := m.(*ordered)
	if !ok {
		p.rig.OnPost(m)
		return
	}
	if p.got[o.from] != o.n {
		p.bad++
	}
	p.got[o.from]++
	if p.sum++; p.sum == p.want {
		close(p.full)
	}
}

func testPosts(t *testing.T, mk Make) {
	const each = 5000
	p := &posted{full: make(chan struct{}), want: 8 * each}
	p.t = t
	l := mk(p, loop.Config{})
	p.ran = runLoop(&p.rig, l)
	t.Cleanup(p.stop)
	for from := range 8 {
		go func() {
			for n := range each {
				if !l.Post(&ordered{from, n}) {
					t.Error("Post refused")
					return
				}
			}
		}()
	}
	await.Value(t, p.full, "all posts")
	p.do(func() {
		if p.bad != 0 {
			t.Errorf("%d posts out of order", p.bad)
		}
	})
}

func testPostBeforeRun(t *testing.T, mk Make) {
	r := &rig{t: t}
	r.loop = mk(r, loop.Config{})
	ran := make(chan struct{})
	if !r.loop.Post(func() { close(ran) }) {
		t.Fatal("Post refused")
	}
	r.ran = runLoop(r, r.loop)
	t.Cleanup(r.stop)
	await.Value(t, ran, "the post")
}
