//go:build gc && go1.26 && !go1.28 && !race && !msan && !asan && !parkchannel

package park

import "unsafe"

// Place is a spot where one goroutine at a time parks.
type Place struct {
	parked func()

	// parker is the parked goroutine, the runtime's *g. The runtime keeps every g
	// for ever, so the garbage collector need not see this reference.
	parker uintptr
}

// Init makes p ready. Park calls parked as soon as Unpark is allowed; parked itself
// may call it, or any goroutine. parked runs on the scheduler's stack in some
// builds, so it must not block, allocate or panic.
func (p *Place) Init(parked func()) { p.parked = parked }

// Park calls parked and returns after one Unpark.
func (p *Place) Park() {
	gopark(stopped, unsafe.Pointer(p), waitReasonCoroutine, traceBlockGeneric, 1)
}

// Unpark makes Park return. Call it once for each Park.
func (p *Place) Unpark() { goready(p.parker, 1) }

// stopped announces goroutine g. The scheduler calls it when g has left its
// processor. As soon as parked makes the announcement, g may run again. Then g, or
// another goroutine, may park here before stopped has returned.
func stopped(g uintptr, place unsafe.Pointer) bool {
	p := (*Place)(place)
	p.parker = g
	p.parked()
	return true
}

// The runtime's numbers for this wait, the same in Go 1.26 and 1.27. A goroutine with
// this reason is durably blocked for testing/synctest. The goroutineleak profile
// never reports it: that profile judges a goroutine by the channel or the semaphore
// in whose queue it stands, and a parked goroutine stands in none.
const (
	waitReasonCoroutine = 38
	traceBlockGeneric   = 0
)

// gopark stops the calling goroutine, calls stopped on the scheduler's stack, and
// runs another goroutine.
//
//go:linkname gopark runtime.gopark
func gopark(stopped func(g uintptr, place unsafe.Pointer) bool, place unsafe.Pointer, reason, block uint8, skip int)

// goready makes a stopped goroutine the next one to run on this processor.
//
//go:linkname goready runtime.goready
func goready(g uintptr, skip int)
