package lane

import (
	"runtime"
	"slices"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/wire"
)

// joinUpTo is up to which size pieces are joined into one write. It is what fits into a
// frame of yamux, so that they stay together.
const joinUpTo = 64<<10 - 12

// write writes what is pending until the stream is broken. If nothing more comes, it ends this
// direction of the stream.
func (s *Stream) write() error {
	alone := runtime.GOMAXPROCS(0) == 1
	for s.waits() {
		// Other goroutines that are about to append something get the chance, so that it
		// goes in one write. On a single processor they had it, and a goroutine that only
		// computes would have a time slice before the writer's next turn.
		if !alone {
			runtime.Gosched()
		}
		if !s.begins() {
			continue
		}
		err := s.flush(s.pieces)
		if last := s.ends(); err == nil && last {
			err = s.raw.CloseWrite()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// waits returns when something is pending and the desk is free, or nothing more comes. It is false
// when the stream is broken. A stream whose direction has ended writes nothing that was appended
// since: an error would break it, and the peer might not have read what came before.
func (s *Stream) waits() bool {
	l := s.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	for s.desk.writing || !s.broken && (s.mute || !l.link.Pending() && !s.last) {
		l.work.Wait()
	}
	return !s.broken
}

// begins reports whether the writer owns the desk now.
func (s *Stream) begins() bool {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	if s.desk.writing || s.broken {
		return false
	}
	s.occupy(true)
	return true
}

// occupy takes the desk, and what is pending. l.mu is held.
func (s *Stream) occupy(writer bool) {
	if s.to == nil {
		s.to = s.lane.toPeer()
	}
	s.pieces = s.lane.link.Take(s.pieces[:0])
	s.desk.begin(s.lane.link.Next(), writer)
}

// ends gives the desk back, after a write. It reports, once, whether that was the last one.
func (s *Stream) ends() (last bool) {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	s.done()
	last = s.last && !s.lane.link.Pending()
	s.last, s.mute = s.last && !last, s.mute || last
	return last
}

// done is ends. l.mu is held.
func (s *Stream) done() {
	clear(s.pieces) // otherwise bulk would stay alive
	s.desk.end()
}

// release sees to it that what was appended is written, as wake does, and unlocks l.mu.
// It writes by itself if the desk says so: see desk.direct.
func (l *Lane) release() {
	s := l.stream
	if s == nil || s.mute || !s.direct(l.link.Kept()) {
		l.wake()
		l.mu.Unlock()
		return
	}
	s.occupy(false)
	l.mu.Unlock()
	l.released(s, s.flush(s.pieces))
}

// released ends a write that release has begun.
func (l *Lane) released(s *Stream, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.done()
	if err != nil {
		l.sever(s, err)
	}
	if s.broken || l.link.Pending() {
		l.work.Signal()
	}
}

// direct reports whether the goroutine that has appended a frame writes it, with so many bytes on their
// way. To write to a ring takes no longer than to wake the writer. l.mu is held.
func (s *Stream) direct(kept int) bool {
	if s.to == nil {
		return s.desk.direct(kept)
	}
	return !s.desk.writing && kept <= directUpTo && s.to.ring.Room() >= 2*directUpTo
}

// flush writes pieces, small ones together.
func (s *Stream) flush(pieces []engine.Piece) error {
	if s.to != nil && !s.told {
		s.told = true
		f := wire.Ring{Offset: s.to.offset, At: s.to.ring.At()}
		if _, err := s.raw.Write(f.Append(nil)); err != nil {
			return err
		}
	}
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
		if len(p.Bytes) <= joinUpTo || s.to != nil { // a ring has whole pieces: see toRing
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
	if s.to != nil {
		return s.toRing(b)
	}
	_, err := s.raw.Write(b)
	return err
}
