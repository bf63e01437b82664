//go:build amd64 || arm64

package sandbox

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where the words of struct seccomp_data lie. An argument has two, the low one first on
// the machines that this is for.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

func low(arg uint32) uint32  { return offArgs + 8*arg }
func high(arg uint32) uint32 { return low(arg) + 4 }

// What the filter answers.
const (
	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	kill  = unix.SECCOMP_RET_KILL_PROCESS
)

// plain are the calls that may be made whatever their arguments are: all mean the process
// itself or a descriptor that it has.
var plain = []uint32{
	// Time, threads and memory: Go's runtime and compiled code.
	unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_CLOCK_GETRES,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_GETPPID,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK, unix.SYS_MLOCK, unix.SYS_MUNLOCK,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_UNAME,
	unix.SYS_GETCPU, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	// Descriptors that are there, and those that lead nowhere else.
	unix.SYS_IO_URING_ENTER, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_CREATE1, unix.SYS_PPOLL,
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK, unix.SYS_FSTAT,
	unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
	unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMERFD_GETTIME,
	unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKOPT, unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME,
}

// threadFlags are those that a new thread may be cloned with, Go's own and the C library's,
// to which there belongs unix.CLONE_THREAD.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM |
	unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED

// program is the filter of a process whose own number is pid.
func program(pid int) ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(instructions(uint32(pid)))
	if err != nil {
		return nil, fmt.Errorf("sandbox: assembling the filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return filter, nil
}

func instructions(pid uint32) []bpf.Instruction {
	var p []bpf.Instruction
	add := func(list ...bpf.Instruction) { p = append(p, list...) }
	add(
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: kill}, // calls of another machine, whose numbers mean something else
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
	)
	// when adds what is done for a call: each test lets go on or denies.
	when := func(call uint32, tests ...[]bpf.Instruction) {
		var body []bpf.Instruction
		for _, t := range tests {
			body = append(body, t...)
		}
		body = append(body, bpf.RetConstant{Val: allow})
		add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: call, SkipFalse: uint8(len(body))})
		add(body...)
	}
	// TCP connects by a flag of sending, too, and a destination is a connection for one message.
	when(unix.SYS_SENDTO, without(low(3), unix.MSG_FASTOPEN), oneOf(low(4), 0), oneOf(high(4), 0))
	when(unix.SYS_SENDMSG, without(low(2), unix.MSG_FASTOPEN))
	when(unix.SYS_FCNTL, oneOf(low(1), unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GET_SEALS))
	when(unix.SYS_TGKILL, oneOf(low(0), pid))
	when(unix.SYS_KILL, oneOf(low(0), pid))
	when(unix.SYS_CLONE, without(low(0), ^uint32(threadFlags)), with(low(0), unix.CLONE_THREAD))
	when(unix.SYS_SCHED_SETAFFINITY, oneOf(low(0), 0))
	when(unix.SYS_PRLIMIT64, oneOf(low(0), 0))
	when(unix.SYS_PRCTL, oneOf(low(0), unix.PR_SET_VMA)) // names for memory, which the runtime gives
	// A pair of datagram sockets could send to any path.
	when(unix.SYS_SOCKETPAIR, oneOf(low(0), unix.AF_UNIX), oneOf(low(1),
		unix.SOCK_STREAM, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK))
	// Options by level. Others load filters, name processes or reach little used protocols.
	add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SETSOCKOPT, SkipTrue: uint8(len(setsockopt()))})
	add(setsockopt()...)
	// The C library makes threads by clone where there is no clone3.
	add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	for _, list := range [][]uint32{plain, machine} {
		for _, call := range list {
			add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, bpf.RetConstant{Val: allow})
		}
	}
	add(bpf.RetConstant{Val: deny})
	return p
}

func setsockopt() (p []bpf.Instruction) {
	tcp := oneOf(low(2), unix.TCP_NODELAY, unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL, unix.TCP_KEEPCNT, unix.TCP_USER_TIMEOUT,
		unix.TCP_NOTSENT_LOWAT, unix.TCP_QUICKACK, unix.TCP_LINGER2)
	tcp = append(tcp, bpf.RetConstant{Val: allow})
	p = append(p, bpf.LoadAbsolute{Off: low(1), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: uint8(len(tcp))})
	p = append(p, tcp...)
	p = append(p, oneOf(low(1), unix.SOL_SOCKET)...)
	p = append(p, oneOf(low(2), unix.SO_LINGER, unix.SO_KEEPALIVE, unix.SO_SNDBUF, unix.SO_RCVBUF)...)
	return append(p, bpf.RetConstant{Val: allow})
}

// oneOf denies unless the word is one of the values.
func oneOf(word uint32, values ...uint32) []bpf.Instruction {
	p := []bpf.Instruction{bpf.LoadAbsolute{Off: word, Size: 4}}
	for i, v := range values {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(p, bpf.RetConstant{Val: deny})
}

// without denies if the word has any of the bits.
func without(word, bits uint32) []bpf.Instruction {
	return []bpf.Instruction{bpf.LoadAbsolute{Off: word, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1}, bpf.RetConstant{Val: deny}}
}

// with denies unless the word has one of the bits.
func with(word, bits uint32) []bpf.Instruction {
	return []bpf.Instruction{bpf.LoadAbsolute{Off: word, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipTrue: 1}, bpf.RetConstant{Val: deny}}
}
