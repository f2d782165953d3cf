package p2p

import "sync"

// spares is memory that a stream's reader has for large bulk. A receiver may keep what
// bulk was read into, and give other memory of the same size for it: so a block is not
// copied once more between the stream and where it belongs. What is larger than
// bulkKept the streams of a node have together.
type spares struct {
	own pile
	all *hoard
}

// hoard is a pile that the streams of a node share, of blocks that are larger than
// bulkKept. To touch as much new memory takes half as long as to read it.
type hoard struct {
	mu   sync.Mutex
	pile pile // hoarded bytes at most
}

// hoarded is how many bytes a node keeps for bulk that is larger than bulkKept.
const hoarded = 128 << 20

// pile is memory that was used, so many bytes at most. The last that came is the last.
type pile struct {
	memory *Memory
	most   int
	kept   [][]byte
	bytes  int
}

func newSpares(n *Node) spares {
	return spares{own: pile{memory: &n.memory, most: bulkKept}, all: &n.hoard}
}

// room is memory of just that size, as far as it can be had before any of the bulk has
// come: its size is only what the other node says, and memory of the arena costs
// nothing until it is touched. Else it is nil.
func (s *spares) room(size int) []byte {
	if b := s.take(size); b != nil {
		return b
	}
	if a := s.own.memory.shared(); a != nil {
		return a.make(size)
	}
	return nil
}

func (s *spares) take(size int) []byte {
	if size <= bulkKept {
		return s.own.take(size)
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	return s.all.pile.take(size)
}

// put keeps memory for the next bulk of its size.
func (s *spares) put(b []byte) {
	switch {
	case len(b) < worthwhile:
		s.own.memory.Free(b)
	case len(b) <= bulkKept:
		s.own.put(b)
	default:
		s.all.mu.Lock()
		s.all.pile.put(b)
		s.all.mu.Unlock()
	}
}

// end gives all that the stream has back.
func (s *spares) end() { s.own.trim(0) }

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
