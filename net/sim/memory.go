package sim

import (
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// memory holds every rank's words. It updates a fingerprint of the symmetric part
// with every store, so that the fingerprint of a state is ready when it is needed.
type memory struct {
	words   int
	used    int
	heap    []uint64 // of all ranks, one after the other
	regions [][]slot // of each rank
	print   uint64
	version uint64 // counts changes
	track   bool   // keep print and version
}

type slot struct {
	generation uint64
	words      []uint64 // nil if nothing is attached
}

func newMemory(ranks, words int, c *crew) memory {
	return memory{words: words, heap: c.words(ranks * words), regions: make([][]slot, ranks), track: true}
}

// at is n words of memory, or nil if the address does not exist.
func (m *memory) at(target rma.Rank, disp rma.Disp, n int) []uint64 {
	segment, offset := m.heap[int(target)*m.words:][:m.words], int(disp)
	if disp.IsDynamic() {
		at, generation, within := disp.Dynamic()
		if at >= len(m.regions[target]) || m.regions[target][at].generation != generation {
			return nil
		}
		segment, offset = m.regions[target][at].words, within
	}
	if offset < 0 || n < 0 || offset > len(segment) || n > len(segment)-offset {
		return nil
	}
	return segment[offset : offset+n : offset+n]
}

// load is the value of a word that exists.
func (m *memory) load(target rma.Rank, disp rma.Disp) uint64 {
	if !disp.IsDynamic() {
		return m.heap[int(target)*m.words+int(disp)]
	}
	if words := m.at(target, disp, 1); words != nil {
		return words[0]
	}
	return 0 // detached while the operation was in flight
}

// store changes a word.
func (m *memory) store(target rma.Rank, disp rma.Disp, value uint64) {
	words := m.at(target, disp, 1)
	if words == nil || words[0] == value {
		return
	}
	if m.track {
		m.version++
		if !disp.IsDynamic() {
			cell := mix(uint64(target)<<32 ^ uint64(disp))
			m.print += cellPrint(cell, value) - cellPrint(cell, words[0])
		}
	}
	words[0] = value
}

// cellPrint is zero for value zero. So words that no rank has written add nothing,
// and nothing has to visit them.
func cellPrint(cell, value uint64) uint64 {
	if value == 0 {
		return 0
	}
	return mix(cell ^ mix(value))
}

// fingerprint is a fingerprint of all memory. It reads regions in full, because
// their owner writes to them without an operation.
func (m *memory) fingerprint() uint64 {
	print := m.print
	for p, slots := range m.regions {
		for i, s := range slots {
			at := mix(uint64(p)<<32 ^ uint64(i)<<1 ^ 1)
			print += mix(at ^ s.generation ^ uint64(len(s.words)))
			for j, word := range s.words {
				print += cellPrint(mix(at^uint64(j)), word)
			}
		}
	}
	return print
}

// alloc reserves symmetric words.
func (m *memory) alloc(words int) (rma.Disp, error) {
	if words < 1 || words > m.words-m.used {
		return 0, &rma.AllocError{Words: words, Free: m.words - m.used, Why: rma.ErrNoSpace,
			Hint: "raise System.Words, or ask for at least one word"}
	}
	base := m.used
	m.used += words
	return rma.Disp(base), nil
}

// attach makes words a region of rank p.
func (m *memory) attach(p rma.Rank, words []uint64) rma.Disp {
	slots := m.regions[p]
	at := 0
	for at < len(slots) && slots[at].words != nil {
		at++
	}
	if at == len(slots) {
		m.regions[p] = append(slots, slot{})
	}
	s := &m.regions[p][at]
	s.words = words
	return rma.Dynamic(at, s.generation)
}

// detach removes the region at base. It reports whether there was one.
func (m *memory) detach(p rma.Rank, base rma.Disp) bool {
	at, _, offset := base.Dynamic()
	if !base.IsDynamic() || offset != 0 || m.at(p, base, 1) == nil {
		return false
	}
	s := &m.regions[p][at]
	s.words = nil
	_, s.generation, _ = rma.Dynamic(at, s.generation+1).Dynamic()
	return true
}

// mix is the finaliser of splitmix64.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// lineWords is how many words a cache line has.
const lineWords = 8

// cacheLine knows which places have a line in their caches. A place is a processor, or a
// rank with a core of its own. An access by a place that has the line is cheap. Any other
// access fetches it from the place that changed it last, one access at a time.
type cacheLine struct {
	owner   int32   // the place that changed it last, plus one; 0: none, or through a port
	holders []int32 // the places that have it; only the owner, if it may change it at once
	free    int64   // when the last fetch ends
}

// held reports whether a place can access the line in its own cache.
func (l *cacheLine) held(place int32, change bool) bool {
	return slices.Contains(l.holders, place) && (!change || len(l.holders) == 1)
}

// from is the place from which an access fetches the line, or -1 if it is in no cache.
// held says that the place need not fetch it.
func (l *cacheLine) from(place int32, change bool) (from int32, held bool) {
	if l.held(place, change) {
		return place, true
	}
	if l.owner-1 == place { // others have read it since
		for _, other := range l.holders {
			if other != place {
				return other, false
			}
		}
	}
	return l.owner - 1, false
}

// lines are the lines of all memory. Those of the symmetric part stand in a row.
type lines struct {
	words     int // of symmetric memory at a rank
	symmetric []cacheLine
	dynamic   map[address]*cacheLine // by its first word
}

// address is a word of a rank.
type address struct {
	target rma.Rank
	disp   rma.Disp
}

func newLines(ranks, words int) lines {
	n := (words + lineWords - 1) / lineWords
	return lines{words: n, symmetric: make([]cacheLine, ranks*n), dynamic: make(map[address]*cacheLine)}
}

func (l *lines) at(target rma.Rank, disp rma.Disp) *cacheLine {
	if !disp.IsDynamic() {
		return &l.symmetric[int(target)*l.words+int(disp)/lineWords]
	}
	at := address{target, disp &^ (lineWords - 1)}
	line := l.dynamic[at]
	if line == nil {
		line = new(cacheLine)
		l.dynamic[at] = line
	}
	return line
}

// touch notes that an operation of r has accessed its line. Their distance is apart. An
// operation that comes through a port and changes the word takes the line from all caches.
func (p *predictor) touch(r *rank, q *request, apart int) {
	if !p.anyCoherent {
		return
	}
	line, change := p.lines.at(q.target, q.disp), q.changes()
	switch coherent, place := p.costs[apart].coherent, p.place(r); {
	case !coherent && change:
		line.owner, line.holders = 0, line.holders[:0]
	case !coherent:
	case change:
		line.owner, line.holders = place+1, append(line.holders[:0], place)
	case !slices.Contains(line.holders, place):
		line.holders = append(line.holders, place)
	}
}
