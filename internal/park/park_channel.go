//go:build !gc || !go1.26 || go1.28 || race || msan || asan || parkchannel

package park

// Place is where one goroutine at a time parks.
type Place struct {
	parked func()
	token  chan struct{}
}

// Init makes p ready. Park will call parked as soon as Unpark may be called, by
// parked or by anybody. It neither blocks nor allocates nor panics, since it may
// run on the scheduler's stack.
func (p *Place) Init(parked func()) {
	p.parked, p.token = parked, make(chan struct{}, 1)
}

// Park calls parked and returns after one Unpark.
func (p *Place) Park() {
	p.parked()
	<-p.token
}

// Unpark makes Park return. It is called once for each Park.
func (p *Place) Unpark() { p.token <- struct{}{} }
