package queue

import (
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// When a node is lost, or may be: a site is told by Away, Lost, Suspect and Back. Its homes
// take the node out of their queues. Its mirrors end their life, and begin another one later.

// Away says that a node is silent for so long that it may be about to give this one up, and
// why. All grants and requests of this node at resources with their home there are over. The
// call comes before Lost does there, so no two nodes hold the same grant.
//
// Both nodes call Away or Lost for one another before either calls Back.
func (s *Site) Away(n Node, why error) {
	s.mu.Lock()
	s.away[n] = why
	s.mu.Unlock()
	for _, f := range s.mirrorsAt(n) {
		f.lost(why)
	}
}

// mirrorsAt are the mirrors whose home is on a node.
func (s *Site) mirrorsAt(n Node) (all []*mirror) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.mirrors {
		if f.home == n {
			all = append(all, f)
		}
	}
	return all
}

// Lost says that a node is lost, and why: its requests leave the queues of all homes here,
// and it is away, too.
func (s *Site) Lost(n Node, why error) {
	if int64(n) >= int64(s.o.Nodes) {
		return
	}
	s.mu.Lock()
	for number, kept := range s.strays {
		kept = slices.DeleteFunc(kept, func(m coherence.Message) bool {
			if m.Node != n {
				return false
			}
			s.budget.Free(&m, n)
			return true
		})
		if s.strays[number] = kept; len(kept) == 0 {
			delete(s.strays, number)
		}
	}
	s.mu.Unlock()
	for _, h := range s.allHomes() {
		h.lost(n, false)
	}
	s.Away(n, why)
}

func (s *Site) allHomes() (all []*home) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, h := range s.homes {
		all = append(all, h)
	}
	return all
}

// Back says that a node is there again after it was away or lost: the same life of the
// node, or a new one that knows nothing of the past. The lanes between the two nodes begin
// anew. Messages that were sent before no longer arrive, either way, and Back comes before
// the first message that was sent afterwards. All requests of the node here are over,
// whether or not it was lost.
func (s *Site) Back(n Node, incarnation uint64) {
	s.mu.Lock()
	anew := s.lives[n] != incarnation
	s.lives[n] = max(s.lives[n], incarnation)
	delete(s.away, n)
	s.mu.Unlock()
	for _, h := range s.allHomes() {
		h.lost(n, true)
	}
	for _, f := range s.mirrorsAt(n) {
		f.back(anew)
	}
}

// ErrSuspected is the end of an access, or a request, because its home has not heard of
// this node for so long that it may have given the node up. It matches ErrLost. The home
// may as well be there: then it serves the next request.
var ErrSuspected error = suspected{}

type suspected struct{}

func (suspected) Error() string {
	return "resource: home may have given up this node: what this node held or requested there is over: request again"
}

// Is matches ErrLost.
func (suspected) Is(target error) bool { return target == ErrLost }

// Suspect says that the lease of a node's grants to this one may be over, and why. All
// grants and requests of this node there are over, as by Away. The other node may still be
// there, and not know. So the mirrors tell it that a new life begins, and places may request
// again at once.
//
// The message of the new life may overtake the bytes of a write that was released. The
// home drops those, and this node reports the write as lost: see [LostWriteError].
func (s *Site) Suspect(n Node, why error) {
	for _, f := range s.mirrorsAt(n) {
		f.mu.Lock()
		f.suspect(why)
		f.unlock()
	}
}

// join begins a new life if the last one is over, and the home is there.
func (f *mirror) join() error {
	over := f.half.Over()
	switch {
	case f.away != nil:
		return f.away
	case over != nil && errors.Is(over, ErrBroken):
		return over
	case f.uses > 0: // they may still use the bytes
		return fmt.Errorf("%w: accesses of this node that are over have to be released first: %d", ErrStale, f.uses)
	case over == nil:
		return nil
	}
	f.life++
	return f.half.Rejoin(f.site.life(f.life))
}

// lost says that the home is lost, or may give this node up soon.
func (f *mirror) lost(why error) {
	f.mu.Lock()
	defer f.unlock()
	if f.away != nil {
		return
	}
	f.away = fmt.Errorf("%w: %w", ErrLost, why)
	s := f.site.scratch()
	defer f.site.spare(s)
	f.half.Lost(f.away, &s.work)
	f.do(s)
	f.clearTurns()
}

// back says that the home is there again, perhaps as one that knows nothing.
func (f *mirror) back(anew bool) {
	f.mu.Lock()
	defer f.unlock()
	f.away = nil
	if anew {
		f.half.Forget()
	}
}

// check ends all requests if the lease of the home's grants may be over by now.
func (f *mirror) check() {
	if suspected := f.site.o.Suspected; suspected != nil {
		if why := suspected(f.home); why != nil {
			f.suspect(why)
		}
	}
}

// suspect ends all requests and begins a new life.
func (f *mirror) suspect(why error) {
	if f.away != nil {
		return
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	if f.half.Suspect(fmt.Errorf("%w: %w", ErrSuspected, why), f.site.life(f.life+1), &s.work) {
		f.life++
		f.clearTurns()
	}
	f.do(s)
}

func (f *mirror) clearTurns() {
	f.turns.Drop(f.home, f.site.budget, func(*coherence.Message) bool { return true })
}

// breakDown wakes everybody, after the resource was broken.
func (f *mirror) breakDown() {
	f.mu.Lock()
	defer f.unlock()
	for tag := range f.half.Waiting() {
		f.rouse(tag.(*remote))
	}
}
