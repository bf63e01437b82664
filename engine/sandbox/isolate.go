package sandbox

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// mayIsolate reports whether this process can start others in namespaces of their own. It
// tries, as there are more ways to be refused than capabilities tell.
var mayIsolate = sync.OnceValue(func() bool {
	tried := make(chan bool)
	go offMain(func() {
		runtime.LockOSThread() // for good: the thread, which has left the namespaces, ends with the goroutine
		tried <- unix.Unshare(namespaces) == nil
	})
	return <-tried
})

// offMain calls f on a thread that is not the process's first one, which never ends.
func offMain(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
	runtime.UnlockOSThread()
}
