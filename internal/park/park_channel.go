//go:build !gc || !go1.26 || go1.28 || race || msan || asan || parkchannel

package park

// Place is a spot where one goroutine at a time parks.
type Place struct {
	parked func()
	token  chan struct{}
}

// Init makes p ready. Park calls parked as soon as Unpark is allowed; parked itself
// may call it, or any goroutine. parked runs on the scheduler's stack in some
// builds, so it must not block, allocate or panic.
func (p *Place) Init(parked func()) {
	p.parked, p.token = parked, make(chan struct{}, 1)
}

// Park calls parked and returns after one Unpark.
func (p *Place) Park() {
	p.parked()
	<-p.token
}

// Unpark makes Park return. Call it once for each Park.
func (p *Place) Unpark() { p.token <- struct{}{} }
