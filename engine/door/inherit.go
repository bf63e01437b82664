package door

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Socket is a listening TCP socket that the process was started with.
type Socket struct {
	Name     string // what who started the process calls it; "unknown" unless said
	Listener *net.TCPListener
}

// firstInherited is the descriptor at which inherited sockets begin, by the convention of
// systemd's sd_listen_fds(3): behind the three standard ones.
const firstInherited = 3

// mostInherited bounds what LISTEN_FDS is believed about.
const mostInherited = 1 << 10

// Inherited takes the sockets that the process was given by who started it, as systemd's
// socket units do it: LISTEN_FDS tells how many there are from descriptor 3 on, LISTEN_PID
// which process they are meant for, and LISTEN_FDNAMES, with colons between, what each is
// called. There are none if they are not meant for this process.
//
//	systemd: socket, bind, listen --- fork, exec ---> gamehoster: Inherited, Open
//	   |  keeps it over restarts                          |
//	   +---- connections wait in its backlog meanwhile ---+
//
// It is to be called once, before the process has started another: the descriptors are
// marked to be closed on exec, and the three variables are removed from the environment,
// so that no child takes them for its own.
func Inherited() ([]Socket, error) {
	all, err := inherited(os.Getenv, os.Getpid(), firstInherited)
	for _, name := range []string{"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(name) // fails for malformed names only
	}
	if err != nil {
		return nil, fmt.Errorf("taking the sockets that the process was started with: %w", err)
	}
	return all, nil
}

func inherited(getenv func(string) string, pid, first int) (all []Socket, err error) {
	count := getenv("LISTEN_FDS")
	if count == "" || getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > mostInherited {
		return nil, fmt.Errorf("LISTEN_FDS is %q, which is no number of sockets", count)
	}
	names := strings.Split(getenv("LISTEN_FDNAMES"), ":")
	for i := range n {
		unix.CloseOnExec(first + i)
	}
	defer func() {
		if err != nil {
			for _, s := range all {
				_ = s.Listener.Close()
			}
			all = nil
		}
	}()
	for i := range n {
		s := Socket{Name: "unknown"}
		if i < len(names) && names[i] != "" {
			s.Name = names[i]
		}
		if s.Listener, err = listenerOf(first + i); err != nil {
			return all, fmt.Errorf("descriptor %d, %s: %w", first+i, s.Name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

var errNoListener = errors.New("it is no listening TCP socket; a socket unit for gamehoster has ListenStream=ADDRESS:PORT and Accept=no")

// listenerOf makes a listener of a descriptor, which it takes.
func listenerOf(fd int) (*net.TCPListener, error) {
	f := os.NewFile(uintptr(fd), "inherited")
	if f == nil {
		return nil, errNoListener
	}
	defer f.Close() // net.FileListener has a duplicate
	if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens == 0 {
		return nil, errNoListener
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		_ = l.Close()
		return nil, errNoListener
	}
	return tcp, nil
}
