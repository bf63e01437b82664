package share_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gamehoster/wire"
)

// A box that is started anew again and again under people who come all the time, for the
// library and for seats: none of them is refused or left without an answer.
func TestNobodyIsRefusedWhileTheBoxIsStartedAnew(t *testing.T) {
	s := supervise(t, gamesRoot(t))
	var coming sync.WaitGroup
	stop := make(chan struct{})
	var fetched, seated, failed atomic.Int64
	come := func(what func() error, n *atomic.Int64) {
		coming.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := what(); err != nil {
					failed.Add(1)
					t.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	for range 3 {
		come(func() error { return fetch(s.address()) }, &fetched)
	}
	come(func() error {
		c, err := net.Dial("tcp", s.address())
		if err != nil {
			return fmt.Errorf("who wants to play is refused: %w", err)
		}
		defer c.Close()
		_, err = join(c, "")
		if why := (closed{}); errors.As(err, &why) && uint16(why.code) == wire.CloseStopping {
			return nil // it had a seat, and its game has ended with the box
		}
		return err
	}, &seated)

	for range 3 {
		box := s.start("--drain-timeout", "100ms")
		f, p := fetched.Load(), seated.Load()
		await(t, "people to come", func() bool {
			return failed.Load() > 0 || fetched.Load() > f+20 && seated.Load() > p+2
		})
		box.terminate()
		s.told("STOPPING=1", box)
		box.wait(t)
	}
	close(stop)
	s.start() // for those who wait
	coming.Wait()
	t.Logf("%d fetched the library, %d got a seat, over four boxes", fetched.Load(), seated.Load())
}

// A box that has no descriptors left for those who come goes on when there are some again,
// and does not end over it.
func TestShortOfDescriptorsOnAKeptPort(t *testing.T) {
	s := supervise(t, gamesRoot(t))
	box := s.startWith("ulimit -n 64;", "--workers", "inline")
	var crowd []net.Conn
	for range 200 {
		c, err := net.Dial("tcp", s.address())
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, c)
	}
	// Those for whom there is no room are told so at once; the first still have time to ask.
	last := crowd[len(crowd)-1]
	_ = last.SetReadDeadline(time.Now().Add(patience))
	if answer, err := io.ReadAll(last); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503") {
		t.Errorf("the last one is told %q, %v", answer, err)
	}
	for _, c := range crowd {
		_ = c.Close()
	}
	if err := fetch(s.address()); err != nil {
		t.Error(err)
	}
	box.stop(t)
}

// fetch gets the library with a connection of its own.
func fetch(from string) error {
	c, err := net.Dial("tcp", from)
	if err != nil {
		return fmt.Errorf("who wants the library is refused: %w", err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(c, "HEAD /%s/gamehoster.js HTTP/1.1\r\nHost: %s\r\n\r\n", game, domain); err != nil {
		return fmt.Errorf("asking for the library: %w", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodHead})
	if err != nil {
		return fmt.Errorf("asking for the library: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking for the library: %s", resp.Status)
	}
	return nil
}
