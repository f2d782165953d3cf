package resource

import (
	"slices"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

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

// Return says that a node that was lost has come back as a new life. It has none of the homes of the
// life before: accesses to those still end with an error that matches [ErrLost]. It may request at
// homes here, and may be the home of resources that are declared from now on.
func (s *Site) Return(n Node, incarnation uint64) {
	s.mu.Lock()
	s.lives[n] = max(s.lives[n], incarnation)
	delete(s.away, n)
	s.mu.Unlock()
	for _, h := range s.allHomes() {
		h.lost(n, true)
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
