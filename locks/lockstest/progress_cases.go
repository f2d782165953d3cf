package lockstest

// Who waits gets the lock in the end.
var progressCases = []Case{
	{Name: "progress/hand-over", Ranks: 2, act: progressHandOver},
	{Name: "progress/everybody", Ranks: 3, act: progressEverybody},
}

// progressHandOver lets each rank wait for the one before it. A holder lets go
// as soon as the next one is about to wait.
func progressHandOver(p *player) {
	const held, waits = 0, 1
	modes := p.modes()
	const turns = 6
	for round := range turns {
		turn := round*p.ranks + int(p.me)
		m := modes[turn%len(modes)]
		next := modes[(turn+1)%len(modes)]
		p.hear(held, turn)
		switch {
		case turn == 0 || m == read && modes[(turn+len(modes)-1)%len(modes)] == read:
			p.acquire(m)
		default:
			p.acquireTelling(m, waits)
		}
		p.tell(held)
		if last := turn == turns*p.ranks-1; !last && !(m == read && next == read) {
			p.hear(waits, turn+1)
		}
		p.release(m)
	}
}

// progressEverybody lets all come at once, again and again.
func progressEverybody(p *player) {
	modes := p.modes()
	for round := range 6 {
		p.meet()
		p.visit(modes[(round+int(p.me))%len(modes)])
	}
}
