// Package proc measures other processes of this machine: what the kernel says that
// they took. A benchmark reads a process before and after the part that counts, and
// takes the difference:
//
//	before, err := proc.Read(pid)
//	...
//	after, err := proc.Read(pid)
//	took := after.Since(before)
//
// CPU is read from the process's own clock, which counts nanoseconds of all its
// threads, those that have ended included; user and system time are the kernel's
// split of it, in units of 10 ms on most machines. Work that the kernel does on
// behalf of a socket is on the account of whoever is running then: of loopback traffic
// the sender pays for the delivery, too.
//
// Start runs a command on given cores from its first instruction on. Server and
// driver of a benchmark belong on different ones.
package proc
