package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// A release says that a write is under way to its home, and not that it is committed. The
// mirror learns that by the next grant, or asks: for Flush, or in a sweep after a while.

// LostWriteError is a write that was released and that its home may not have: the link
// between the two broke before the home confirmed it. It matches ErrLost.
//
// The write is perhaps committed after all. Only a read at the home can tell.
type LostWriteError struct {
	Resource string
	Home     Node
	Fence    uint64 // of the grant that wrote
	Err      error  // the reason why the link broke
}

func (e *LostWriteError) Error() string {
	return fmt.Sprintf("resource: a write of %q was released and may be lost (fence %d): node %d, its home, has not confirmed it: read the resource, and write again if the write is not there: %v",
		e.Resource, e.Fence, e.Home, e.Err)
}

func (e *LostWriteError) Unwrap() error { return e.Err }

// Is matches ErrLost.
func (e *LostWriteError) Is(target error) bool { return target == ErrLost }

// Flush returns nil when the homes have committed every write that places of this node have released. A write at its home is
// committed by its release. Flush asks all homes, then waits for all.
//
// A write that may be lost is a [*LostWriteError]. Flush returns each once, and the place that wrote is told all the same.
// If ctx ends first, Flush returns a [*PlaceError] with the reason, and may be called again.
func (s *Site) Flush(ctx context.Context) error {
	s.mu.RLock()
	all := slices.Collect(maps.Values(s.mirrors))
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b *mirror) int { return cmp.Compare(a.r.name, b.r.name) })
	waits := make([]*waiter, len(all)) // for the answers, nil if one is known
	for i, f := range all {
		waits[i] = f.ask()
	}
	var errs error
	for i, f := range all {
		errs = errors.Join(errs, f.answer(ctx, waits[i]), f.collectLost())
	}
	return errs
}

// lostWrite is a write that may be lost. Two must know: the place that wrote, and
// the caller of [Site.Flush].
type lostWrite struct {
	by        *Place
	err       *LostWriteError
	told      bool // by has been
	collected bool // for the node
	next      *lostWrite
}

// loseWrite notes that the home may not have the last write of this node.
func (f *mirror) loseWrite(e *coherence.Event) {
	err := &LostWriteError{Resource: f.r.name, Home: f.home, Fence: e.Fence, Err: e.Err}
	f.lostWrites = &lostWrite{by: f.writer, err: err, next: f.lostWrites}
	f.site.ended(Ending{Resource: f.r, Node: f.site.o.Node, Grants: 1, Fence: e.Fence, Why: err})
}

// tell is the lost write of a place that it has not been told of, or nil.
func (f *mirror) tell(p *Place) error {
	for l := f.lostWrites; l != nil; l = l.next {
		if l.by == p && !l.told {
			l.told = true
			f.forgetLost()
			return l.err
		}
	}
	return nil
}

// collectLost are the lost writes that no Flush has named.
func (f *mirror) collectLost() (errs error) {
	f.mu.Lock()
	defer f.unlock()
	for l := f.lostWrites; l != nil; l = l.next {
		if !l.collected {
			errs = errors.Join(errs, l.err)
			l.collected = true
		}
	}
	f.forgetLost()
	return errs
}

// forgetLost drops the lost writes that everybody knows.
func (f *mirror) forgetLost() {
	for at := &f.lostWrites; *at != nil; {
		if l := *at; l.told && l.collected {
			*at = l.next
		} else {
			at = &l.next
		}
	}
}

// ask asks the home about the last write. It returns a waiter for the answer, nil if the answer is known.
func (f *mirror) ask() *waiter {
	f.mu.Lock()
	defer f.unlock()
	if f.half.Unconfirmed() == 0 {
		return nil
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	f.half.Confirm(&s.work)
	f.do(s)
	w := newWaiter(nil)
	w.word.Store(listed)
	w.next, f.asking = f.asking, w
	return w
}

// answer waits for the home's answer, or for the end of this life of the mirror.
func (f *mirror) answer(ctx context.Context, w *waiter) error {
	if w == nil {
		return nil
	}
	err := w.sleep(ctx)
	w.calm()
	if err != nil {
		return &PlaceError{Op: "flush", Mode: Write, Resource: f.r.name, Err: err}
	}
	return nil
}

// answered wakes all that wait for the home's answer.
func (f *mirror) answered() {
	f.writer = nil
	for w := f.asking; w != nil; {
		next := w.next
		w.next, f.wake = f.wake, w
		w = next
	}
	f.asking = nil
}

// keepers are the mirrors that have released a write not long ago. The grant of the next
// request confirms the write. If no grant comes between two sweeps, the second asks whether the
// write is committed.
type keepers struct {
	mu  sync.Mutex
	all []*mirror
}

// keep has a mirror looked at by the second sweep from now. The mirror's mutex is held.
func (s *Site) keep(f *mirror) {
	if s.o.Later == nil {
		return
	}
	f.fresh = true
	if !f.keeper {
		f.keeper = true
		s.watch(f)
	}
}

// watch has mirrors looked at later.
func (s *Site) watch(more ...*mirror) {
	k := &s.keepers
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) == 0 {
		s.o.Later(s.sweep)
	}
	k.all = append(k.all, more...)
}

// sweep looks at the mirrors that have released a write.
func (s *Site) sweep() {
	k := &s.keepers
	k.mu.Lock()
	looked := k.all
	k.all = nil
	k.mu.Unlock()
	var stay []*mirror
	for _, f := range looked {
		if f.settle() {
			stay = append(stay, f)
		}
	}
	if len(stay) > 0 {
		s.watch(stay...)
	}
}

// settle asks for a write that is not confirmed, unless it is fresh. It reports whether a later
// sweep must look again.
func (f *mirror) settle() bool {
	f.mu.Lock()
	defer f.unlock()
	if f.fresh {
		f.fresh = false
		return true
	}
	f.keeper = false
	s := f.site.scratch()
	defer f.site.spare(s)
	f.half.Confirm(&s.work)
	f.do(s)
	return false
}

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
