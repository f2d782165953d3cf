package lockstest

// Who comes first is served first.
var orderCases = []Case{
	{Name: "order/fifo", Ranks: 3, needs: fifo, act: orderFIFO},
}

// The signals of orderFIFO.
const (
	queuedUp = iota
	served
)

// orderFIFO lets ranks queue up one after the other behind one that holds the
// lock, in another order each round.
func orderFIFO(p *player) {
	for round := range 6 {
		base := round * p.ranks
		place := (int(p.me)*(1+round%2*(p.ranks-2)) + round) % p.ranks // a permutation: forwards or backwards
		p.hear(queuedUp, base+place)
		if place == 0 {
			p.acquire(write)
			p.tell(queuedUp)
			p.hear(queuedUp, base+p.ranks)
		} else {
			p.acquireTelling(write, queuedUp)
		}
		p.equal(uint64(p.tell(served)), uint64(base+place), "in round %d, the place in which the rank is served that queued up at place %d", round, place)
		p.release(write)
		p.meet()
	}
}
