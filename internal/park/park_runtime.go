//go:build gc && go1.26 && !go1.28 && !race && !msan && !asan && !parkchannel

package park

import "unsafe"

// Place is where one goroutine at a time parks.
type Place struct {
	parked func()

	// parker is the goroutine, the runtime's *g. The runtime keeps each of them
	// for ever, so the garbage collector need not know of this one.
	parker uintptr
}

// Init makes p ready. Park will call parked as soon as Unpark may be called, by
// parked or by anybody. It neither blocks nor allocates nor panics, since it may
// run on the scheduler's stack.
func (p *Place) Init(parked func()) { p.parked = parked }

// Park calls parked and returns after one Unpark.
func (p *Place) Park() {
	gopark(stopped, unsafe.Pointer(p), waitReasonCoroutine, traceBlockGeneric, 1)
}

// Unpark makes Park return. It is called once for each Park.
func (p *Place) Unpark() { goready(p.parker, 1) }

// stopped is called by the scheduler when goroutine g is off its processor.
// From the moment at which parked says so, g may run again, and may park here
// or let another goroutine park here, before stopped has ended.
func stopped(g uintptr, place unsafe.Pointer) bool {
	p := (*Place)(place)
	p.parker = g
	p.parked()
	return true
}

// What the runtime calls the wait, by its numbers in Go 1.26. A goroutine that
// waits for this reason is durably blocked, as testing/synctest has it, and is
// none that the profile of leaked goroutines judges by what it is queued for,
// because it is in no queue.
const (
	waitReasonCoroutine = 38
	traceBlockGeneric   = 0
)

// gopark stops the calling goroutine, calls stopped on the scheduler's stack and
// runs another goroutine.
//
//go:linkname gopark runtime.gopark
func gopark(stopped func(g uintptr, place unsafe.Pointer) bool, place unsafe.Pointer, reason, block uint8, skip int)

// goready makes a goroutine that has stopped the next one on this processor.
//
//go:linkname goready runtime.goready
func goready(g uintptr, skip int)
