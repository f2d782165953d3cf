package resource

// extras are the fields that few places need, or that a place sets only once.
type extras struct {
	bed     Bed
	remote  *remote  // nil until it requests at a mirror
	hearers hearers  // of the place's events
	dirty   *Ranges  // what the place has named since it was granted
	view    *mapping // of a resource with fault pages
	watches bool     // OnLoss has a function to call if the place loses what it holds
}

// Sleep makes the place wait in another bed than its own. Call it before the first
// request.
func (p *Place) Sleep(in Bed) { p.extra().bed = in }

func (p *Place) extra() *extras {
	if p.x == nil {
		p.x = new(extras)
	}
	return p.x
}

func (p *Place) bed() Bed {
	if p.x == nil {
		return nil
	}
	return p.x.bed
}
