package locks

// mix is what a writer of RMA-RW-A knows of an epoch.
type mix struct {
	readers, waiting uint64 // readers that were inside, and that wait now
	writers          uint64 // about so many had the lock in a row,
	ended            bool   // and T_W has kept out the next

	// So few readers vote for counters that are further apart, and so many for nearer ones. Zero:
	// there is no such spread.
	few, many uint64
}

// decide is the next spread, votes and pace, where counter 0 is v.
func (m mix) decide(v, hysteresis uint64) (spread, vote, pace uint64) {
	spread, pace = v/spreadOne%spreads, v/paceOne%paces
	switch vote = m.vote(v / voteOne % votes); vote {
	case hysteresis:
		spread, vote = spread+1, 0
	case votes - hysteresis:
		spread, vote = spread-1, 0
	}
	switch {
	case m.ended && m.waiting > 0 && m.writers > 2*m.waiting:
		pace = min(pace+1, paces-1)
	case !m.ended || m.waiting > 2*m.writers || m.waiting == 0:
		pace = max(pace, 1) - 1
	}
	return spread, vote, pace
}

// vote is the sum of the epochs' votes: for counters that are further apart, less those for nearer
// ones. It is a number modulo votes. An epoch that has no opinion brings it nearer to zero.
func (m mix) vote(sum uint64) uint64 {
	switch {
	case m.few > 0 && m.readers <= m.few:
		sum++
	case m.many > 0 && m.readers >= m.many:
		sum--
	case sum == 0:
	case sum < votes/2:
		sum--
	default:
		sum++
	}
	return sum % votes
}

// These numbers weigh the cost of a counter against its use, in readers of an epoch. A writer pays
// three operations in a row for each counter, while all others wait. A reader saves the way to
// another element, and the waits of readers at the same counter.
// In virtual time these numbers make 1.18, 1.06 and 1.17 of the best fixed setting for a changing mix
// (Cray and InfiniBand, 4 nodes of 4 ranks; Cray, 4 nodes of 8), and 1 and 2 make 1.17, 1.04 and 1.19.
const (
	fewReaders  = 2 // for each counter that is open
	manyReaders = 3 // for each counter that would be open

	// So many times more readers pay for a counter inside an element, which saves only waits, and
	// on a machine of one level, where all counters are equally far.
	nearWeight = 16
	flatWeight = 6
)

// leastTR is the least T_R: readers that count anew hide how many have come.
const leastTR = 16

// shift is by how much T_R of a counter is divided in the next epoch, which was v in the last. tr is
// the bound.
func shift(v, tr, least uint64) uint64 {
	shift, readers, limit := v/shiftOne%shifts, departed(v), tunedTR(tr, v)
	switch {
	case 2*readers >= limit && shift > 0:
		return shift - 1
	case 32*readers < limit && limit >= least<<shiftStep && shift < shifts-1:
		return shift + 1
	}
	return shift
}
