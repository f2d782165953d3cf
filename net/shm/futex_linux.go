package shm

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unsafe: the system calls of this file take addresses.

// The futex operations, without FUTEX_PRIVATE_FLAG: the kernel finds the
// sleepers of other processes by the word's place in the file.
const (
	opFutexWait = 0
	opFutexWake = 1
)

// futexWait sleeps while the word has the value seen, until futexWake. It may
// return early.
//
// It uses Syscall, so that the other goroutines of the process have the processor.
// RawSyscall would keep it from them, and a garbage collection would wait for as long
// as this goroutine sleeps.
func futexWait(word *atomic.Uint32, seen uint32) {
	at := uintptr(unsafe.Pointer(word))
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, at, opFutexWait, uintptr(seen), 0, 0, 0)
	if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
		panic(fmt.Sprintf("shm: futex wait: %v", errno))
	}
}

// futexWake ends every futexWait on the word. It tells the scheduler nothing, since it
// does not block.
func futexWake(word *atomic.Uint32) {
	at := uintptr(unsafe.Pointer(word))
	if _, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, at, opFutexWake, math.MaxInt32, 0, 0, 0); errno != 0 {
		panic(fmt.Sprintf("shm: futex wake: %v", errno))
	}
}

// nanosleep sleeps for d, or less if a signal comes. The other goroutines of the
// process have the processor meanwhile.
func nanosleep(d time.Duration) {
	spec := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&spec, nil)
}

// nanosleepHere is nanosleep that keeps the processor of the Go scheduler.
func nanosleepHere(d time.Duration) {
	spec := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&spec)), 0, 0)
}
