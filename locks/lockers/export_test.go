package lockers

// MostOvertaken is how often a goroutine is overtaken at most by others of its processor,
// for itself and for each goroutine before it.
const MostOvertaken = mostTurns + 2

// MostReaders is how many readers join before a rank lets go of the lock.
const MostReaders = mostReaders

// Waiting is the number of goroutines that wait for a rank, without those that have been
// called.
func (k *Locker) Waiting() (n int) {
	for i := range k.seats {
		n += int(k.seats[i].waiting.Load())
	}
	return n
}

// Free is the number of ranks that no goroutine has.
func (k *Locker) Free() (n int) {
	for i := range k.seats {
		if k.seats[i].state.Load()&(seatHeld|readersMask) == 0 {
			n++
		}
	}
	return n
}

// Inside is the number of goroutines that wait for a rank, and ranks in use.
func (k *Locker) Inside() int { return k.Waiting() + len(k.seats) - k.Free() }

// Keepers is the number of ranks that keep the lock.
func (k *RWLocker) Keepers() int { return int(k.seats[0].bias.keepers.Load()) }

// Move makes all goroutines use the ranks from first to end-1, as if they ran on the
// processor of these. No goroutine uses the lock meanwhile.
func (k *Locker) Move(first, end int) {
	for i := range k.near {
		k.near[i] = k.seats[first:end]
	}
}

// NearOf is the number of ranks of the processor n, and which is the first.
func (k *Locker) NearOf(n int) (first, count int) {
	near := k.near[n%len(k.near)]
	for i := range k.seats {
		if &k.seats[i] == &near[0] {
			first = i
		}
	}
	return first, len(near)
}
