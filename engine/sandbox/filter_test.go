//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the filter's program in a machine of its own, for calls that no test
// could make.
func TestFilter(t *testing.T) {
	const pid = 4711
	vm, err := bpf.NewVM(instructions(pid))
	if err != nil {
		t.Fatal(err)
	}
	verdict := func(arch uint32, number uint32, args ...uint64) uint32 {
		// The machine is one for packets, whose words have their high byte first.
		data := make([]byte, 64)
		binary.BigEndian.PutUint32(data[offNumber:], number)
		binary.BigEndian.PutUint32(data[offArch:], arch)
		for i, a := range args {
			binary.BigEndian.PutUint32(data[low(uint32(i)):], uint32(a))
			binary.BigEndian.PutUint32(data[high(uint32(i)):], uint32(a>>32))
		}
		got, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(got)
	}
	const noSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	for _, c := range []struct {
		what   string
		number uint32
		args   []uint64
		want   uint32
	}{
		{"read", unix.SYS_READ, nil, allow},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, nil, allow},
		{"the last of the list", plain[len(plain)-1], nil, allow},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, nil, deny},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, nil, deny},
		{"execve", unix.SYS_EXECVE, nil, deny},
		{"execveat", unix.SYS_EXECVEAT, nil, deny},
		{"openat", unix.SYS_OPENAT, nil, deny},
		{"openat2", unix.SYS_OPENAT2, nil, deny},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, nil, deny},
		{"newfstatat and the like", unix.SYS_STATX, nil, deny},
		{"socket", unix.SYS_SOCKET, nil, deny},
		{"connect", unix.SYS_CONNECT, nil, deny},
		{"bind", unix.SYS_BIND, nil, deny},
		{"listen", unix.SYS_LISTEN, nil, deny},
		{"accept4", unix.SYS_ACCEPT4, nil, deny},
		{"sendmmsg", unix.SYS_SENDMMSG, nil, deny},
		{"ptrace", unix.SYS_PTRACE, nil, deny},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, nil, deny},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, nil, deny},
		{"pidfd_open", unix.SYS_PIDFD_OPEN, nil, deny},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, nil, deny},
		{"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, nil, deny},
		{"rt_tgsigqueueinfo", unix.SYS_RT_TGSIGQUEUEINFO, nil, deny},
		{"tkill", unix.SYS_TKILL, nil, deny},
		{"mount", unix.SYS_MOUNT, nil, deny},
		{"unshare", unix.SYS_UNSHARE, nil, deny},
		{"setns", unix.SYS_SETNS, nil, deny},
		{"bpf", unix.SYS_BPF, nil, deny},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, nil, deny},
		{"userfaultfd", unix.SYS_USERFAULTFD, nil, deny},
		{"keyctl", unix.SYS_KEYCTL, nil, deny},
		{"seccomp", unix.SYS_SECCOMP, nil, deny},
		{"ioctl", unix.SYS_IOCTL, nil, deny},
		{"memfd_create", unix.SYS_MEMFD_CREATE, nil, deny},
		{"a number that there is not", 1 << 20, nil, deny},
		{"a call of x32", 0x40000000 + unix.SYS_READ, nil, deny},
		{"a thread of Go's", unix.SYS_CLONE, []uint64{0x50f00}, allow},
		{"a thread of the C library's", unix.SYS_CLONE, []uint64{0x3d0f00}, allow},
		{"a fork", unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, deny},
		{"a process with this memory", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK}, deny},
		{"a thread in another network", unix.SYS_CLONE, []uint64{0x50f00 | unix.CLONE_NEWNET}, deny},
		{"clone3", unix.SYS_CLONE3, nil, noSys},
		{"a signal to the process", unix.SYS_TGKILL, []uint64{pid, pid + 1, 23}, allow},
		{"a signal to another", unix.SYS_TGKILL, []uint64{pid + 1, pid + 1, 23}, deny},
		{"kill of itself", unix.SYS_KILL, []uint64{pid, 6}, allow},
		{"kill of another", unix.SYS_KILL, []uint64{1, 6}, deny},
		{"kill of a group", unix.SYS_KILL, []uint64{0, 6}, deny},
		{"kill of all", unix.SYS_KILL, []uint64{1<<64 - 1, 6}, deny},
		{"sendto", unix.SYS_SENDTO, []uint64{5, 1 << 40, 9, unix.MSG_NOSIGNAL}, allow},
		{"sendto somewhere", unix.SYS_SENDTO, []uint64{5, 1 << 40, 9, 0, 1}, deny},
		{"sendto somewhere high", unix.SYS_SENDTO, []uint64{5, 1 << 40, 9, 0, 1 << 32}, deny},
		{"sendto that connects", unix.SYS_SENDTO, []uint64{5, 1 << 40, 9, unix.MSG_FASTOPEN}, deny},
		{"sendmsg", unix.SYS_SENDMSG, []uint64{3, 1 << 40, unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT}, allow},
		{"sendmsg that connects", unix.SYS_SENDMSG, []uint64{3, 1 << 40, unix.MSG_FASTOPEN}, deny},
		{"fcntl: dup", unix.SYS_FCNTL, []uint64{3, unix.F_DUPFD_CLOEXEC}, allow},
		{"fcntl: seals", unix.SYS_FCNTL, []uint64{3, unix.F_GET_SEALS}, allow},
		{"fcntl: whom to signal", unix.SYS_FCNTL, []uint64{3, unix.F_SETOWN}, deny},
		{"a stream pair", unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, allow},
		{"a datagram pair", unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, deny},
		{"a pair of others", unix.SYS_SOCKETPAIR, []uint64{unix.AF_INET, unix.SOCK_STREAM}, deny},
		{"TCP_NODELAY", unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_TCP, unix.TCP_NODELAY}, allow},
		{"TCP_ULP", unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_TCP, unix.TCP_ULP}, deny},
		{"SO_LINGER", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_LINGER}, allow},
		{"SO_ATTACH_FILTER", unix.SYS_SETSOCKOPT, []uint64{3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER}, deny},
		{"an option of netfilter", unix.SYS_SETSOCKOPT, []uint64{3, unix.IPPROTO_IP, 64}, deny},
		{"its own limits", unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE}, allow},
		{"others' limits", unix.SYS_PRLIMIT64, []uint64{1, unix.RLIMIT_NOFILE}, deny},
		{"its core", unix.SYS_SCHED_SETAFFINITY, []uint64{0}, allow},
		{"others' cores", unix.SYS_SCHED_SETAFFINITY, []uint64{1}, deny},
		{"a name for memory", unix.SYS_PRCTL, []uint64{unix.PR_SET_VMA}, allow},
		{"prctl", unix.SYS_PRCTL, []uint64{unix.PR_SET_PTRACER}, deny},
	} {
		if got := verdict(auditArch, c.number, c.args...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
		}
	}
	if got := verdict(auditArch^1, unix.SYS_READ); got != kill {
		t.Errorf("a call of another machine: %#x", got)
	}
	filter, err := program(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instructions", len(filter))
}
