package queue

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/internal/tally"
)

// Place is a user's position in the queue of a resource: one request, from its
// announcement to its release.
//
//	         Request                Acquire              Release
//	idle ───────────────▶ requested ────────▶ held ───────────────▶ idle
//	  ▲                    │    ▲               │
//	  └────── Cancel ──────┘    └──── Renew ────┘
//
// The zero value is idle, and a place is used over and over. One goroutine at a time
// uses it, and it must not be copied. Only Acquire waits. Misuse returns a
// [*PlaceError] and changes nothing.
type Place struct {
	// state is the ticket, with the bits below. Only the owner changes it. Others read it for
	// reports.
	state tally.Count
	r     *Resource
	w     *waiter // nil until it has to wait
	x     *extras // nil for most

	listed   bool // w is in a list of the queue, or was and is granted
	notified bool // w has, or had, a hook
	wrote    bool // its bytes may have been written
	lined    bool // w is in the list of the guard, or was and is granted
	inside   bool // it has entered the guard, and not been acquired
	planned  bool // it is a place of a run: see Hold
}

// The lower bits of Place.state.
const (
	requestedBit = 1 << 0
	heldBit      = 1 << 1
	writeBit     = 1 << 2
	guardedBit   = guarded // requested when there was a guard, or has entered it
	phaseBits    = requestedBit | heldBit
)

func modeBit(m Mode) uint64 { return uint64(m) * writeBit }

func modeOf(state uint64) Mode { return Mode(state / writeBit & 1) }

// Request puts a request at the end of the queue of r: it announces the access.
func (p *Place) Request(r *Resource, m Mode) error {
	if p.state.Load()&phaseBits != 0 {
		return p.error("request", ErrRequested)
	}
	if m > Write {
		return &PlaceError{Op: "request", Resource: r.name, Err: fmt.Errorf("%w: %d: want Read or Write", ErrMode, uint8(m))}
	}
	if invariant.Enabled && (p.listed || p.lined || p.inside) {
		invariant.Check(false, "an idle place of %q is listed %t, lined %t, inside %t", r.name, p.listed, p.lined, p.inside)
	}
	if p.r != r {
		p.r = r
	}
	if r.requested.Load()&apart != 0 {
		return p.requestRemote(m)
	}
	p.state.Set(r.request(unit(m)) | modeBit(m) | requestedBit)
	p.tell(Requested)
	return nil
}

// Acquire waits until the request is granted. If ctx ends before, it returns the
// Reason and the request stays in the queue: acquire again, or cancel. It does the same
// with [ErrLeafRule] if the task of ctx is inside a relaxed access. A grant that Notify
// has told of is acquired even if ctx has ended, unless the guard must be entered too.
//
// Acquire itself calls the function that stops the goroutine. Each function in between
// costs time at the wake-up, since the processor mispredicts its return.
func (p *Place) Acquire(ctx context.Context) error {
	if p.tryAcquire() {
		return nil
	}
	s, r := p.state.Load(), p.r
	switch {
	case s&heldBit != 0:
		return p.error("acquire", ErrHeld)
	case s&requestedBit == 0:
		return p.error("acquire", ErrNotRequested)
	case p.planned:
		return p.error("acquire", ErrPlanned)
	}
	waited, until := false, ctx
	if p.listed || !due(r.load(&r.completed), s&^flags, modeOf(s)) {
		if !p.listed {
			p.list(s, nil)
		}
		for w := p.w; w.state() != granted; w.wakeUp() {
			if until.Err() != nil {
				if p.r.mirror != nil || !due(r.load(&r.completed), s&^flags, modeOf(s)) {
					return p.error("acquire", Reason(ctx))
				}
				until = context.Background() // its turn has come, and whoever made it so is about to grant it
			}
			if !waited {
				waited = true
				w.lieDown(p.bed())
				if err := p.Waits(ctx); err != nil {
					return p.error("acquire", err)
				}
			}
			if z := w.sleeper; z.bed != nil {
				z.bed.ParkUntil(until, z.interrupt)
			} else {
				z.alarm.Set(until, z.interrupt)
				z.place.Park()
			}
		}
	}
	c := r.load(&r.completed)
	if c&broken != 0 {
		return p.failed("acquire", r.brokenError())
	}
	if p.r.mirror != nil {
		return p.acquireRemote(s)
	}
	p.listed = false
	if c&guarded != 0 {
		if err := p.enter(ctx, s, waited); err != nil {
			return p.failed("acquire", err)
		}
		s |= guardedBit
	}
	if s&writeBit != 0 {
		r.ledger.Raise()
	}
	p.state.Set(s ^ phaseBits)
	p.tell(Acquired)
	return nil
}

// tryAcquire is Acquire for the common case: the request is granted, its home is on this
// node, and no relaxed access has to be kept out. It reports whether it has acquired.
func (p *Place) tryAcquire() bool {
	s, r := p.state.Load(), p.r
	if s&requestedBit == 0 || p.planned || p.listed && (r.mirror != nil || p.w.state() != granted) {
		return false
	}
	c := r.load(&r.completed)
	if s&writeBit == 0 {
		if c&flags != 0 || !passed(c, s) {
			return false
		}
	} else if c != s&^flags {
		return false
	} else {
		r.ledger.Raise()
	}
	p.listed = false
	p.state.Set(s ^ phaseBits)
	if p.x != nil {
		p.tell(Acquired)
	}
	return true
}

// Granted reports whether Acquire would return at once. If that needs the guard, the
// place enters it. The place then keeps relaxed accesses out until it acquires and
// releases, or cancels.
func (p *Place) Granted() bool {
	s := p.state.Load()
	if s&requestedBit == 0 || p.planned {
		return s&heldBit != 0
	}
	if p.r.mirror != nil {
		return p.w.state() == granted
	}
	c := p.r.load(&p.r.completed)
	if c&broken != 0 || !due(c, s&^flags, modeOf(s)) {
		return c&broken != 0
	}
	if c&guarded == 0 {
		return true
	}
	if p.listed && p.w.state() != granted {
		return false // it is about to be told
	}
	return p.tryEnter(s)
}

// Resource is the resource of the last request, or nil.
func (p *Place) Resource() *Resource { return p.r }

// Mode is the requested access mode.
func (p *Place) Mode() Mode { return modeOf(p.state.Load()) }

// Held reports whether the place holds its resource.
func (p *Place) Held() bool { return p.state.Load()&heldBit != 0 }

// Requested reports whether the place has requested and not yet acquired.
func (p *Place) Requested() bool { return p.state.Load()&requestedBit != 0 }

// Fence is the number of the grant. It grows with every granted writer and every lost
// holder. Readers have the fence of the last writer before them. At the home it grows under
// a reader that holds when another reader of its group is lost. Zero if not held.
func (p *Place) Fence() uint64 {
	if !p.Held() {
		return 0
	}
	if p.far() {
		return p.x.remote.held(p.r.mirror)
	}
	return p.r.ledger.Fence()
}

// Version counts the writes of the bytes before the grant. Zero if not held.
func (p *Place) Version() uint64 {
	if !p.Held() {
		return 0
	}
	return p.r.ledger.Version()
}

// Here tells for the place's request or grant how many of the resource's bytes need no
// transfer any more (here), and how many have arrived at this node since the request
// (came). At the resource's home nothing is transferred.
func (p *Place) Here() (here, came int) {
	if p.state.Load()&phaseBits == 0 {
		return 0, 0
	}
	if p.far() {
		return p.x.remote.here(p.r.mirror)
	}
	if p.x != nil && p.planned {
		came = int(p.x.came.Load())
	}
	return p.Size(), came
}

// Prior tells what happened to a writer before the grant: nil, or an error that matches
// [ErrPriorHolderLost] or [ErrPoisoned]. At the home, ErrPoisoned wraps the reason with
// which a writer of this node has failed. Nil if not held.
func (p *Place) Prior() error {
	if !p.Held() {
		return nil
	}
	if err := p.r.prior(); err != nil {
		return p.error("prior", err)
	}
	return nil
}

// prior tells what happened to a writer before. The caller holds the resource, in order
// or by relaxed access.
func (r *Resource) prior() error {
	err := coherence.Stamp{Prior: r.ledger.Prior()}.Err()
	if reason := r.poisoned(); reason != nil {
		err = fmt.Errorf("%w: %w", err, reason)
	}
	return err
}

// far reports whether the home, on another node, grants what the place requests.
func (p *Place) far() bool { return p.r.mirror != nil && !p.planned }

// error is a failure of op.
func (p *Place) error(op string, err error) error {
	e := &PlaceError{Op: op, Mode: p.Mode(), Err: err}
	if p.r != nil {
		e.Resource = p.r.name
	}
	return e
}

// extras are the fields that few places need, or that a place sets only once.
type extras struct {
	bed     Bed          // nil: one of its own
	remote  *remote      // nil until it requests at a mirror
	came    atomic.Int64 // bytes from other nodes since the request, in a run
	hold    *Hold        // of a writer in a run with snapshots
	hearers hearers      // of the place's events
	view    *mapping     // of a resource with fault pages
}

func (p *Place) extra() *extras {
	if p.x == nil {
		p.x = new(extras)
	}
	return p.x
}

func (p *Place) bed() Bed {
	if p.x == nil {
		return nil
	}
	return p.x.bed
}
