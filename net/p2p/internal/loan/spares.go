package loan

import "sync"

// Spares is memory that a stream's reader has for large bulk. A receiver may keep what
// bulk was read into, and give other memory of the same size for it: so a block is not
// copied once more between the stream and where it belongs. The streams of a node share
// blocks that are larger than BulkKept.
type Spares struct {
	own pile
	all *Hoard
}

// Hoard is a pile that the streams of a node share, of blocks that are larger than
// BulkKept. To touch as much new memory takes half as long as to read it.
type Hoard struct {
	mu   sync.Mutex
	pile pile // hoarded bytes at most
}

// hoarded is how many bytes a node keeps for bulk that is larger than BulkKept.
const hoarded = 128 << 20

// pile is memory that was used, so many bytes at most. The last that came is the last.
type pile struct {
	memory *Memory
	most   int
	kept   [][]byte
	bytes  int
}

// NewHoard is an empty one, of a memory.
func NewHoard(memory *Memory) *Hoard { return &Hoard{pile: pile{memory: memory, most: hoarded}} }

// BulkKept is the size of the largest bulk for which a stream keeps its own memory.
const BulkKept = 4 << 20

// NewSpares makes the spares of one stream, beside the hoard of its node.
func NewSpares(hoard *Hoard) Spares {
	return Spares{own: pile{memory: hoard.pile.memory, most: BulkKept}, all: hoard}
}

// Room is memory of just that size, as far as it can be had before any of the bulk has
// come: its size is only what the other node says, and memory of the arena costs
// nothing until it is touched. Else it is nil.
func (s *Spares) Room(size int) []byte {
	if b := s.take(size); b != nil {
		return b
	}
	if a := s.own.memory.Shared(); a != nil {
		return a.Make(size)
	}
	return nil
}

func (s *Spares) take(size int) []byte {
	if size <= BulkKept {
		return s.own.take(size)
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	return s.all.pile.take(size)
}

// Put keeps memory for the next bulk of its size.
func (s *Spares) Put(b []byte) {
	switch {
	case len(b) < Worthwhile:
		s.own.memory.Free(b)
	case len(b) <= BulkKept:
		s.own.put(b)
	default:
		s.all.mu.Lock()
		s.all.pile.put(b)
		s.all.mu.Unlock()
	}
}

// End gives all that the stream has back.
func (s *Spares) End() { s.own.trim(0) }

// take is memory of just that size, nil if there is none.
func (p *pile) take(size int) []byte {
	for i := len(p.kept) - 1; i >= 0; i-- {
		if b := p.kept[i]; len(b) == size {
			p.kept = append(p.kept[:i], p.kept[i+1:]...)
			p.bytes -= size
			return b
		}
	}
	return nil
}

// put keeps memory, in the place of what was not used for longest.
func (p *pile) put(b []byte) {
	p.kept = append(p.kept, b)
	p.bytes += len(b)
	p.trim(p.most)
}

// trim gives memory back until there are so many bytes at most.
func (p *pile) trim(most int) {
	for p.bytes > most {
		p.bytes -= len(p.kept[0])
		p.memory.Free(p.kept[0])
		p.kept = append(p.kept[:0], p.kept[1:]...)
	}
}
