package sim

import (
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

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
	dynamic   map[dynamicLine]*cacheLine
}

type dynamicLine struct {
	target rma.Rank
	disp   rma.Disp
}

func newLines(ranks, words int) lines {
	n := (words + lineWords - 1) / lineWords
	return lines{words: n, symmetric: make([]cacheLine, ranks*n), dynamic: make(map[dynamicLine]*cacheLine)}
}

func (l *lines) at(target rma.Rank, disp rma.Disp) *cacheLine {
	if !disp.IsDynamic() {
		return &l.symmetric[int(target)*l.words+int(disp)/lineWords]
	}
	at := dynamicLine{target, disp &^ (lineWords - 1)}
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
