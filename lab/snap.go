package lab

import (
	"errors"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// SNAP sweeps over a grid of processes as a wavefront, from each of the four corners. A process is
// an element of level 2, its threads are its ranks, and its communication lock lives at its first
// rank. Thread t of a process talks to the threads t of its neighbours. For each of its chunks it
// waits for its upwind neighbours on the progress path, computes, and sends to its downwind
// neighbours on the main path. The whole work stays the same for any number of processes (strong
// scaling, as in the paper).

const (
	valueSweep = "sweep" // the time from the first corner to the last

	snapChunks  = 8                      // of a thread in a sweep from one corner
	snapCorners = 4                      // of a grid
	snapBytes   = 8 << 10                // of a message
	snapWork    = 100 * time.Microsecond // of a thread's chunk, divided by the processes
)

var errSNAP = errors.New("want at least two elements of level 2, for instance node:2 core:2")

func fitsSNAP(t *topology.Tree) error {
	if t.Levels() < 2 || t.Elements(2) < 2 {
		return errSNAP
	}
	return nil
}

// homesSNAP are the first ranks of the processes.
func homesSNAP(t *topology.Tree) (homes []rma.Rank) {
	for i := range t.Elements(2) {
		first, _ := t.Members(2, i)
		homes = append(homes, first)
	}
	return homes
}

// grid is the processes of SNAP, ny times nz.
type grid struct {
	ny, nz, threads int
	t               *topology.Tree
}

// gridOf is a grid that is as square as the number of processes allows.
func gridOf(t *topology.Tree) grid {
	g := grid{t: t, threads: t.Ranks()}
	processes := t.Elements(2)
	for g.nz = 1; (g.nz+1)*(g.nz+1) <= processes; g.nz++ {
	}
	for processes%g.nz != 0 {
		g.nz--
	}
	g.ny = processes / g.nz
	for i := range processes {
		_, n := t.Members(2, i)
		g.threads = min(g.threads, n)
	}
	return g
}

// thread is thread number t of the process at y, z, or -1 outside the grid.
func (g grid) thread(y, z, t int) rma.Rank {
	if y < 0 || y >= g.ny || z < 0 || z >= g.nz {
		return -1
	}
	first, _ := g.t.Members(2, y*g.nz+z)
	return first + rma.Rank(t)
}

// snapper is a thread of SNAP.
type snapper struct {
	*player
	grid
	process, y, z, t int
	bytes            []byte
	sent             uint64 // chunks of each corner so far
}

// ofSNAP is room for a chunk from both upwind neighbours, for each corner.
func ofSNAP(int, float64) int { return 2 * snapCorners * snapBytes }

func playSNAP(r *player) error {
	s := &snapper{player: r, grid: gridOf(r.tree), process: r.tree.Element(r.w.Rank(), 2), bytes: make([]byte, snapBytes)}
	first, _ := r.tree.Members(2, s.process)
	s.y, s.z, s.t = s.process/s.nz, s.process%s.nz, int(r.w.Rank()-first)
	for i := range rma.Disp(2 * snapCorners) { // from the last repeat
		r.w.Put(r.w.Rank(), r.data+i, 0)
	}
	r.w.FlushAll()
	return r.rounds(s.sweep, func(took time.Duration) {
		if r.w.Rank() == 0 {
			r.sample.value(valueSweep, float64(took), 1)
		}
	})
}

// sweep goes over the grid from each corner.
func (s *snapper) sweep() (time.Duration, error) {
	begin := s.clock.Now()
	if s.t < s.threads { // a process may have more ranks than others
		for range snapChunks {
			s.sent++
			for corner := range snapCorners {
				if err := s.chunk(corner); err != nil {
					return 0, err
				}
			}
		}
	}
	return s.clock.Now() - begin, nil
}

// chunk waits, computes and sends. The words of a corner count what came along y and along z. Its last
// messages are complete before a thread takes the lock again: otherwise the next release would wait for it.
func (s *snapper) chunk(corner int) error {
	dy, dz := 1-2*(corner&1), 1-corner&2
	word := s.data + rma.Disp(2*corner)
	s.w.FlushAll()
	for i, from := range []rma.Rank{s.thread(s.y-dy, s.z, s.t), s.thread(s.y, s.z-dz, s.t)} {
		if from < 0 {
			continue
		}
		if err := s.receive(word + rma.Disp(i)); err != nil {
			return err
		}
	}
	s.clock.Compute(snapWork / time.Duration(s.ny*s.nz))
	downwind := []rma.Rank{s.thread(s.y+dy, s.z, s.t), s.thread(s.y, s.z+dz, s.t)}
	for _, to := range downwind {
		if to < 0 {
			continue
		}
		if err := s.issueSend(); err != nil {
			return err
		}
	}
	for i, to := range downwind {
		if to >= 0 {
			s.w.PutBytes(to, s.strips+rma.Disp((2*corner+i)*snapBytes/8), s.bytes)
			s.w.Put(to, word+rma.Disp(i), s.sent)
		}
	}
	return nil
}

// receive polls on the progress path until the chunk has come.
func (s *snapper) receive(word rma.Disp) error {
	for {
		changes, err := s.acquireLow(s.process)
		if err != nil {
			return err
		}
		s.engine()
		came := s.w.Get(s.w.Rank(), word) >= s.sent
		if err := s.release(s.process, true, changes); err != nil {
			return err
		}
		if came {
			s.sample.value(valueProgress, 1, 1)
			return nil
		}
		s.sample.value(valueProgress, 0, 1)
		s.w.Pause(pollPause)
	}
}

// issueSend is the main path. As in messages.go, the message goes behind the release.
func (s *snapper) issueSend() error {
	changes, err := s.acquire(s.process, true)
	if err != nil {
		return err
	}
	s.engine()
	s.sample.value(valueMain, 1, 1)
	return s.release(s.process, true, changes)
}
