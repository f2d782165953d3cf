//go:build race

package ring

import (
	"runtime"
	"unsafe"
)

// order is what the race detector is told instead of the words of a ring. Two nodes of a process have mapped the memory twice, at
// different addresses. So the detector does not see that one node reads what the other has written. The standard library
// tells it the same of sockets.
var order byte

// releases says that what this goroutine has done comes before what follows the next acquires.
func releases() { runtime.RaceReleaseMerge(unsafe.Pointer(&order)) }
func acquires() { runtime.RaceAcquire(unsafe.Pointer(&order)) }
