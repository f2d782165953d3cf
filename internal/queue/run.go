package queue

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// A run whose order is known needs no queue: package orwl/internal/plan says when each access of it
// is granted. Such a run has its resources for itself, from its start to its end. In the queue of each
// it is one writer. Its own places do not stand in the queue:
//
//	            ┌────────── GrantAll ─────────┐
//	Join ──▶ requested                       held ──▶ EndAll, the last time ──▶ idle
//	            └────── EndAll: committed ────┘
//
// A place of a run does with the bytes what any place does. A call that goes through the queue is refused.

// Hold is a resource that a run has for itself.
type Hold struct {
	place  Place
	run    any    // the same for all resources of the run
	places uint32 // of the run

	// alone, if not nil, has room for one: a writer of the bytes, or a snapshot.
	alone chan struct{}
	took  atomic.Bool // the run has the resource

	// The requests of places with observers are counted here, as in the queue.
	requested, completed atomic.Uint64
}

// The errors of a run that has resources for itself.
var (
	// ErrPlanned is a request, an acquire or a release of an access whose run does that by itself.
	ErrPlanned = errors.New("its run grants and releases it, in each round: a body of Each holds it from its beginning to its end")
	// ErrRunHas is an access from outside to a resource that a run has for itself, which cannot wait for
	// the end of the run.
	ErrRunHas = errors.New("a run has it for itself until its end")
)

// NewHold puts a run into the queue of r, as a writer. On several nodes the home does that for all. The others
// have a hold of their copy. copies says that [Resource.Copy] works while the run goes on.
func NewHold(r *Resource, run any, copies bool) (*Hold, error) {
	h := &Hold{run: run}
	h.place.r = r
	if copies {
		h.alone = make(chan struct{}, 1)
		h.Enter() // until the run has the resource
	}
	if r.mirror != nil {
		return h, nil
	}
	r.run.Store(h) // before the request: see Copy
	err := h.place.Request(r, Write)
	if err != nil {
		r.run.Store(nil)
	}
	return h, err
}

// Take waits until the run has the resource. A copy it has at once.
func (h *Hold) Take(ctx context.Context) error {
	if h.place.r.mirror == nil {
		if err := h.place.Acquire(ctx); err != nil {
			return err
		}
	}
	h.place.r.run.Store(h)
	h.took.Store(true)
	h.Leave()
	return nil
}

// Enter keeps snapshots away while the bytes change. It waits for one at most, which copies the bytes.
func (h *Hold) Enter() {
	if h.alone != nil {
		h.alone <- struct{}{}
	}
}

// Leave ends Enter.
func (h *Hold) Leave() {
	if h.alone != nil {
		<-h.alone
	}
}

// Copy appends the bytes to dst as they are between two accesses that write, and returns their version. A run that has
// the resource for itself lets it in if the run said so, see [NewHold]; before and after, it is a reader in the queue.
// It works at the resource's home.
func (r *Resource) Copy(ctx context.Context, dst []byte) (bytes []byte, version uint64, err error) {
	for {
		h := r.run.Load()
		if h == nil {
			if bytes, version, err = r.copyOrdered(ctx, dst); err != errRunBegins {
				return bytes, version, err
			}
			continue
		}
		if h.alone == nil {
			return dst, 0, r.relaxedError("copy", Read, ErrRunHas)
		}
		if err := holderOf(ctx).mayRelax(r); err != nil {
			return dst, 0, r.relaxedError("copy", Read, err)
		}
		if bytes, version, err = h.copy(ctx, dst); err != errRunEnds {
			return bytes, version, err
		}
	}
}

// A run begins or ends meanwhile, so Copy begins anew.
var (
	errRunBegins = errors.New("resource: a run begins")
	errRunEnds   = errors.New("resource: the run has ended")
)

// copy copies the bytes between two rounds of a run.
func (h *Hold) copy(ctx context.Context, dst []byte) ([]byte, uint64, error) {
	r := h.place.r
	select {
	case h.alone <- struct{}{}:
	case <-ctx.Done():
		return dst, 0, r.relaxedError("copy", Read, Reason(ctx))
	}
	defer h.Leave()
	switch {
	case r.run.Load() != h:
		return dst, 0, errRunEnds
	case r.load(&r.completed)&broken != 0:
		return dst, 0, r.relaxedError("copy", Read, r.brokenError())
	}
	return r.copied(dst)
}

// copyOrdered copies the bytes as a reader in the queue. No run has come before it there.
func (r *Resource) copyOrdered(ctx context.Context, dst []byte) ([]byte, uint64, error) {
	var p Place
	if err := p.Request(r, Read); err != nil {
		return dst, 0, err
	}
	if r.run.Load() != nil {
		_ = p.Cancel() // it is not granted, or nothing was read
		return dst, 0, errRunBegins
	}
	if err := p.Acquire(ctx); err != nil {
		return dst, 0, errors.Join(err, p.Cancel())
	}
	bytes, version, err := r.copied(dst)
	return bytes, version, errors.Join(err, p.Release())
}

// copied copies the bytes. No place changes them meanwhile.
func (r *Resource) copied(dst []byte) (bytes []byte, version uint64, err error) {
	if prior := r.prior(); errors.Is(prior, ErrPoisoned) {
		err = r.relaxedError("copy", Read, prior)
	}
	return append(dst, r.buffer.Bytes()...), r.ledger.Version(), err
}

// Resource is what the run has.
func (h *Hold) Resource() *Resource { return h.place.r }

// Seen is the version and the fence of the resource.
func (h *Hold) Seen() (version, fence uint64) { return h.place.r.ledger.Seen() }

// Follow gives a copy the version and the fence of the home, before the run begins.
func (h *Hold) Follow(version, fence uint64) {
	h.place.r.ledger.Copy(coherence.Stamp{Version: version, Fence: fence})
}

// Came says that so many writes of other nodes are in the bytes now. Idle ones, among them, have changed nothing. No
// place of the run holds meanwhile.
func (h *Hold) Came(writes, idle int) {
	l := &h.place.r.ledger
	for i := range writes {
		l.Raise()
		if i >= idle {
			l.Commit()
		}
	}
}

// Bytes are the bytes of the resource, to read or to change, good until the next Resize.
func (h *Hold) Bytes() []byte {
	b := &h.place.r.buffer
	if !b.Plain() {
		b.Own()
	}
	return b.Bytes()
}

// Resize changes how many bytes there are.
func (h *Hold) Resize(size int) error { return h.place.r.buffer.Resize(size) }

// Wrote reports whether the place, which holds, may have changed the bytes since it was granted.
func (p *Place) Wrote() bool { return p.wrote }

// Arrived tells the observers of a place that waits that bytes have come for it from another node.
func (p *Place) Arrived(bytes int) {
	if p.x != nil && p.Requested() {
		p.x.came.Add(int64(bytes))
		p.arrived(bytes)
		p.tell(GrantedFar)
	}
}

// Give ends the run's access, or its request. All places that have joined are idle. The next one in the
// queue is told if the last writer of the run has failed.
func (h *Hold) Give() {
	p, s := &h.place, h.place.state.Load()
	if h.took.Load() {
		h.Enter() // a snapshot may be under way
	}
	p.r.run.Store(nil)
	h.Leave()
	if p.r.mirror != nil {
		return
	}
	if s&heldBit == 0 {
		_ = p.Cancel() // fails if it does not wait either
		return
	}
	p.state.Set(s & writeBit)
	p.r.end(s)
}

// Join makes an idle place one of the run. The places of a resource join in their start order.
func (p *Place) Join(h *Hold, m Mode) error {
	if p.state.Load()&phaseBits != 0 {
		return p.error("join", ErrRequested)
	}
	p.r, p.planned = h.place.r, true
	p.state.Set(uint64(h.places)*oneReader | modeBit(m) | requestedBit)
	h.places++
	if m == Write && h.alone != nil {
		p.extra().hold = h
	}
	if p.x != nil {
		h.requested.Add(unit(m))
		p.tell(Requested)
	}
	return nil
}

// Skip leaves out a place of the start order that is on another node.
func (h *Hold) Skip() { h.places++ }

// GrantAll has places of a run hold. It returns an error, and the places from there on are not held, if a
// resource is broken.
func GrantAll(places []*Place) error {
	for _, p := range places {
		s, r := p.state.Load(), p.r
		if r.completed.Load()&broken != 0 {
			return p.failed("acquire", r.brokenError())
		}
		if p.x != nil && p.x.hold != nil {
			p.x.hold.Enter()
		}
		if s&writeBit != 0 {
			r.ledger.Raise()
		}
		p.state.Set(s ^ phaseBits)
		if p.x != nil {
			p.tell(Acquired)
		}
	}
	return nil
}

// EndAll ends what GrantAll has begun, and announces the next round unless it is the last one.
func EndAll(places []*Place, last bool) {
	how := renews
	if last {
		how = releases
	}
	for _, p := range places {
		s := p.state.Load()
		if p.x != nil {
			p.tell(Releasing)
		}
		p.commit(s)
		p.turn(s, last)
		if p.x != nil {
			p.count(s, last)
			p.ended(how)
		}
	}
}

// count counts a turn that has ended, for observers, before another one may begin.
func (p *Place) count(s uint64, last bool) {
	h, one := p.r.run.Load(), unit(modeOf(s))
	if h == nil {
		return // the run has given the resource back
	}
	h.completed.Add(one)
	if !last {
		h.requested.Add(one)
	}
}

// turn goes on to the next round, or is idle.
func (p *Place) turn(s uint64, last bool) {
	if p.x != nil {
		p.x.came.Store(0)
		if p.x.hold != nil && s&heldBit != 0 {
			p.x.hold.Leave()
		}
		if last {
			p.x.hold = nil
		}
	}
	if last {
		p.planned = false
		p.state.Set(s & writeBit)
		return
	}
	rounds := (s + oneWriter) & (oneReader - 1) // without what it carries
	p.state.Set(s&^(oneReader-1) | rounds&^(heldBit|requestedBit) | requestedBit)
}

// quit ends a place of a run whose task has ended. reason is nil, or why the task has failed: then nothing
// is committed.
func (p *Place) quit(s uint64, reason error) {
	switch {
	case s&heldBit == 0:
		p.turn(s, true)
		if p.x != nil {
			p.count(s, true)
			p.tell(Withdrawn)
		}
		return
	case reason == nil || !p.wrote:
		EndAll([]*Place{p}, true)
		return
	}
	p.tell(Releasing)
	p.discard(reason)
	p.turn(s, true)
	if p.x != nil {
		p.count(s, true)
	}
	p.ended(abandons)
}

// planned reports whether a run has the resource.
func (r *Resource) planned() bool {
	h := r.run.Load()
	return h != nil && h.took.Load()
}

// InspectRun is Inspect of a place of a run. The run knows which of them are granted: Granted is Held.
func (p *Place) InspectRun(r *Resource) PlaceState {
	s := p.state.Load()
	l := PlaceState{Mode: modeOf(s), Requested: s&requestedBit != 0, Held: s&heldBit != 0, Granted: s&heldBit != 0, Stamp: s}
	if h := r.run.Load(); h != nil { // each round has the number that it would have in the queue
		l.Ticket = uint32(s/oneWriter)&writersMask*h.places + uint32(s/oneReader)
	}
	return l
}

// Run is the run that has the resource for itself, or asks for it, as [NewHold] was told. It is nil if there is none.
func (r *Resource) Run() any {
	if hold := r.run.Load(); hold != nil {
		return hold.run
	}
	return nil
}

// within reports whether the task is one of a run. Its loop allocates.
func (h *Holder) within(run any) bool {
	for p := range h.places {
		if r := p.r; r != nil {
			if hold := r.run.Load(); hold != nil && hold.run == run {
				return true
			}
		}
	}
	return false
}
