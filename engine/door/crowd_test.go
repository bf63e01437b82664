package door

import (
	"context"
	"io"
	"testing"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
)

// TestSlowOnesMakeRoom has connections wait while the door is held up. Those that have said
// what the door has yet to read do not go for others.
func TestSlowOnesMakeRoom(t *testing.T) {
	d, _ := start(t, Config{Engines: 1})
	e := d.engines[0]
	_, req := request("/ws")
	half, rest := req[:len(req)/2], req[len(req)/2:len(req)-4]
	conns := []io.ReadWriter{}
	for range 3 {
		c := dial(t, d)
		write(t, c, half)
		conns = append(conns, c)
	}
	await.True(t, "the halves to be read", func() bool {
		read := make(chan int, 1)
		asked := e.requestSweep(func() {
			n := 0
			for p := e.waiting.first; p != nil; p = p.next {
				if p.seen == len(half) {
					n++
				}
			}
			read <- n
		})
		return asked && await.Value(t, read, "a sweep") == 3 // there is none before it has accepted one
	})

	held, gate, made := make(chan []int, 1), make(chan struct{}), make(chan []bool, 1)
	err := e.loop.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		var fds []int
		for p := e.waiting.first; p != nil; p = p.next {
			fds = append(fds, p.conn.Fd())
		}
		held <- fds
		<-gate
		made <- []bool{e.evict(), e.evict()}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	fds := await.Value(t, held, "the door to be held up")
	for _, i := range []int{0, 2} {
		if _, err := io.WriteString(conns[i], rest); err != nil {
			t.Fatal(err)
		}
		await.True(t, "the rest to arrive", func() bool {
			n, err := unix.IoctlGetInt(fds[i], unix.TIOCINQ)
			return err == nil && n == len(rest)
		})
	}
	close(gate)
	if got := await.Value(t, made, "room to be made"); !got[0] || got[1] {
		t.Errorf("room was made %v", got)
	}
	if n, err := conns[1].Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("the one that says nothing reads %d bytes, %v", n, err)
	}
	await.True(t, "the others to wait on", func() bool { s := d.Stats(); return s.Pending == 2 && s.Evicted == 1 })
}
