package lockstest

// Nobody is inside together with a writer, and readers are inside together.
var exclusionCases = []Case{
	{Name: "exclusion/writers", Ranks: 2, act: exclusionWriters},
	{Name: "exclusion/readers-writers", Ranks: 3, needs: readerWriter, act: exclusionReadersWriters},
	{Name: "exclusion/readers-together", Ranks: 2, needs: readerWriter, act: exclusionReadersTogether},
}

// exclusionWriters does not rely on anything that the lock completes.
func exclusionWriters(p *player) {
	for range p.share(60) {
		p.visit(write)
	}
}

func exclusionReadersWriters(p *player) {
	for i := range p.share(90) {
		m := read
		if (i+int(p.me))%3 == 0 {
			m = write
		}
		p.visit(m)
	}
}

// exclusionReadersTogether meets everybody inside, before and after writers.
func exclusionReadersTogether(p *player) {
	for round := range 4 {
		if int(p.me) == round%p.ranks {
			p.visit(write)
		}
		p.meet()
		p.acquire(read)
		p.enter(read)
		p.meet()
		p.leave(read)
		p.release(read)
		p.meet()
	}
}
