package locks

// Waiting is the number of goroutines that wait for a rank.
func (k *Locker) Waiting() int { return int(k.waiting.Load()) }

// Free is the number of ranks that no goroutine has.
func (k *Locker) Free() (n int) {
	for i := range k.places {
		if k.places[i].state.Load()%placeStates == placeFree {
			n++
		}
	}
	return n
}
