package p2p

// spares is memory that a stream's reader has for large bulk. A receiver may keep what
// bulk was read into, and give other memory of the same size for it: so a block is not
// copied once more between the stream and where it belongs.
type spares struct {
	memory *Memory
	kept   [][]byte // the last that came is the last
	bytes  int
}

// room is memory of just that size, as far as it can be had before any of the bulk has
// come: its size is only what the other node says, and memory of the arena costs
// nothing until it is touched. Else it is nil.
func (s *spares) room(size int) []byte {
	for i := len(s.kept) - 1; i >= 0; i-- {
		if b := s.kept[i]; len(b) == size {
			s.kept = append(s.kept[:i], s.kept[i+1:]...)
			s.bytes -= size
			return b
		}
	}
	if a := s.memory.shared(); a != nil {
		return a.make(size)
	}
	return nil
}

// put keeps memory for the next bulk of its size, in the place of what was not used for
// longest.
func (s *spares) put(b []byte) {
	if len(b) < worthwhile || len(b) > bulkKept {
		s.memory.Free(b)
		return
	}
	s.kept = append(s.kept, b)
	s.bytes += len(b)
	for s.bytes > bulkKept {
		s.bytes -= len(s.kept[0])
		s.memory.Free(s.kept[0])
		s.kept = append(s.kept[:0], s.kept[1:]...)
	}
}

// end gives all of it back.
func (s *spares) end() {
	for _, b := range s.kept {
		s.memory.Free(b)
	}
	s.kept, s.bytes = nil, 0
}
