package lane

import (
	"runtime"
	"slices"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/wire"
)

const (
	// joinUpTo is up to which size pieces are joined into one write. It is what
	// fits into a frame of yamux, so that they stay together.
	joinUpTo = 64<<10 - 12
	// directUpTo is how many bytes may be on their way for one more frame to be
	// written by whoever issues it: less than what is left of yamux' smallest window
	// when the other end has not yet told that half of it is free.
	directUpTo = 64 << 10
)

// write writes what is pending until the stream is broken.
func (s *Stream) write() error {
	l := s.lane
	alone := runtime.GOMAXPROCS(0) == 1
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for s.writing || !l.link.Pending() && !s.broken {
			l.work.Wait()
		}
		if s.broken {
			return nil
		}
		// Others that are about to append something get the chance, so that it
		// goes in one write. On a single processor they had it, and who only computes
		// would have a time slice before the writer's next turn.
		if !alone {
			l.mu.Unlock()
			runtime.Gosched()
			l.mu.Lock()
		}
		if s.writing || s.broken {
			continue
		}
		last := s.last
		if err := s.writeOut(); err != nil {
			return err
		}
		s.crowded = s.last > last+1
	}
}

// writeOut takes what is pending and writes it. l.mu is held, though not meanwhile.
func (s *Stream) writeOut() error {
	l := s.lane
	s.pieces = l.link.Take(s.pieces[:0])
	s.last, s.turn, s.writing = l.link.Next(), false, true
	l.mu.Unlock()
	err := s.flush(s.pieces)
	clear(s.pieces) // or bulk would stay alive
	l.mu.Lock()
	s.writing = false
	return err
}

// release sees to it that what was appended is written, as wake does, and unlocks
// l.mu. If something was received since the last write, and nobody else has anything
// to say, then this is the answer to it, or the next question: it is written at once,
// which saves the way through the writer. That does not block: so little is on its way
// then that the stream's window has room.
func (l *Lane) release() {
	defer l.mu.Unlock()
	s := l.stream
	if s == nil || !s.turn || s.crowded || s.writing || l.link.Kept() > directUpTo {
		l.wake()
		return
	}
	if err := s.writeOut(); err != nil {
		l.sever(s, err)
	}
	if s.broken || l.link.Pending() {
		l.work.Signal()
	}
}

// flush writes pieces, small ones together.
func (s *Stream) flush(pieces []engine.Piece) error {
	if len(pieces) == 1 && !pieces[0].Bulk {
		return s.out(pieces[0].Bytes)
	}
	joined := s.joined[:0]
	for _, p := range pieces {
		if len(joined)+len(p.Bytes) > joinUpTo && len(joined) > 0 {
			if err := s.out(joined); err != nil {
				return err
			}
			joined = joined[:0]
		}
		if len(p.Bytes) <= joinUpTo {
			joined = p.Append(joined)
			continue
		}
		sum, err := s.large(p.Bytes)
		if err != nil {
			return err
		}
		if p.Bulk {
			joined = sum.Append(joined)
		}
	}
	s.joined = joined
	if len(joined) == 0 {
		return nil
	}
	return s.out(joined)
}

// large writes much, and returns its checksum. The stream has copied a piece when it
// returns, and encrypts and sends it while the checksum of the next is made.
func (s *Stream) large(b []byte) (sum wire.Checksum, err error) {
	for piece := range slices.Chunk(b, wire.Piece) {
		sum.Add(piece)
		if err := s.out(piece); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func (s *Stream) out(b []byte) error {
	s.lane.node.Counts.Writes.Add(1)
	s.lane.node.Counts.BytesOut.Add(uint64(len(b)))
	_, err := s.raw.Write(b)
	return err
}
