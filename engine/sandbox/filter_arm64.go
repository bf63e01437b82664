package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// machine are plain calls that only this architecture has.
var machine []uint32
