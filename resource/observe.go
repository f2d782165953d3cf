package resource

import (
	"context"
	"errors"
	"strings"

	"github.com/orwl/go-orwl/internal/tally"
)

// Observer hears what happens to places, and the relaxed accesses of resources. The
// goroutine that does it calls Observe in the middle of its own work. Observe must not
// wait, and must not change what it looks at. Observers are compared, so they are pointers.
type Observer interface {
	// Observe tells of an event.
	Observe(e Event)
}

// Event is something that has happened, or is about to.
type Event struct {
	Kind     Kinds
	Mode     Mode
	Resource *Resource
	// Place is whose request it is. It is nil for a relaxed access.
	Place *Place
	// Relaxed numbers the relaxed accesses of a resource, from 1: all events of one access
	// have its number. It is 0 for a place.
	Relaxed uint64
	Bytes   int   // of Arrived
	Err     error // of Failed and RelaxedFailed
}

// Kinds is a set of kinds of events. Each kind is a set of one.
type Kinds uint16

const (
	// Requested comes after Request and Renew.
	Requested Kinds = 1 << iota
	// Waiting comes once, before Acquire stops its goroutine. If the context ends first, no
	// Acquired follows.
	Waiting
	// Acquired comes after Acquire.
	Acquired
	// Releasing comes before a valid Release or Renew admits another request. So a time
	// taken there lies before any time that the next holder takes.
	Releasing
	// Released comes after Release and Renew.
	Released
	// Withdrawn comes after Cancel.
	Withdrawn
	// Failed comes before Acquire, Release or Renew returns Err, because the access or the
	// resource has ended. Misuse is not told, and the end of a context is not.
	Failed

	// Arrived says how many bytes have come from the home on another node since the request
	// was made. It comes twice if bytes come before the grant and with it. It may come at
	// any time between Request and Acquired, even before Requested.
	Arrived
	// GrantedFar says that the grant, its bytes included, has come from the home on another
	// node. It comes before the place is woken.
	GrantedFar

	// RelaxedWaiting comes before the goroutine of a relaxed access waits, once.
	RelaxedWaiting
	// RelaxedAcquired comes when the access begins.
	RelaxedAcquired
	// RelaxedReleased comes when the access has ended.
	RelaxedReleased
	// RelaxedFailed comes instead of RelaxedAcquired, and nothing follows it.
	RelaxedFailed
)

const (
	// AllOrdered are all kinds of events of places. The goroutine that delivers a message
	// tells Arrived and GrantedFar: an observer must not use the place then. All others come
	// from the goroutine that uses the place.
	AllOrdered = Requested | Waiting | Acquired | Releasing | Released | Withdrawn | Failed | Arrived | GrantedFar
	// AllRelaxed are all kinds of events of relaxed accesses.
	AllRelaxed = RelaxedWaiting | RelaxedAcquired | RelaxedReleased | RelaxedFailed
)

var kindsNames = [...]string{
	"requested", "waiting", "acquired", "releasing", "released", "withdrawn", "failed", "arrived", "granted far",
	"relaxed waiting", "relaxed acquired", "relaxed released", "relaxed failed",
}

// String names the kinds in the set.
func (k Kinds) String() string {
	var names []string
	for i, name := range kindsNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// Observe tells o from now on of the events of these kinds that happen to the place. A
// place may have several observers. If o is one of them, these are its kinds instead of
// those before; 0 ends it. Each kind costs time, so o may change its kinds whenever
// something happens to the place. Otherwise call Observe while the place is idle.
func (p *Place) Observe(o Observer, kinds Kinds) { p.extra().hearers.set(o, kinds&AllOrdered) }

// Observe tells o of the relaxed accesses of r, as [Place.Observe] does of a place. Call it
// before the first relaxed access. A resource without relaxed access tells nothing.
func (r *Resource) Observe(o Observer, kinds Kinds) {
	if r.relaxed.o != nil {
		r.relaxed.o.hearers.set(o, kinds&AllRelaxed)
	}
}

// hearers are observers and what they hear. If none hears an event, it costs one load.
type hearers struct {
	kinds tally.Count // of all together
	all   []hearer
}

// hearer is an observer. Its kinds are atomic, since the goroutine that delivers a message
// may read them while the place's own goroutine changes them.
type hearer struct {
	Observer
	kinds tally.Count
}

func (h *hearers) set(o Observer, kinds Kinds) {
	found, union := false, Kinds(0)
	for i := range h.all {
		if h.all[i].Observer == o {
			h.all[i].kinds.Set(uint64(kinds))
			found = true
		}
		union |= Kinds(h.all[i].kinds.Own())
	}
	if !found && kinds != 0 {
		h.all = append(h.all, hearer{Observer: o})
		h.all[len(h.all)-1].kinds.Set(uint64(kinds))
		union |= kinds
	}
	h.kinds.Set(uint64(union))
}

func (h *hearers) tell(e Event) {
	for i := range h.all {
		if Kinds(h.all[i].kinds.Load())&e.Kind != 0 {
			h.all[i].Observe(e)
		}
	}
}

// tell tells the observers of an event.
func (p *Place) tell(kind Kinds) {
	if x := p.x; x != nil && Kinds(x.hearers.kinds.Load())&kind != 0 {
		x.hearers.tell(Event{Kind: kind, Mode: p.Mode(), Resource: p.r, Place: p})
	}
}

// waits tells that Acquire is going to wait. Acquire must not wait if that breaks the leaf
// rule.
func (p *Place) waits(ctx context.Context) error {
	if err := holderOf(ctx).mayWait(); err != nil {
		return err
	}
	p.tell(Waiting)
	return nil
}

// arrived tells of bytes that have come for a request.
func (p *Place) arrived(bytes int) {
	if p.x != nil {
		p.x.hearers.tell(Event{Kind: Arrived, Mode: p.Mode(), Resource: p.r, Place: p, Bytes: bytes})
	}
}

// failed is the error of op, which has failed, and tells of it.
func (p *Place) failed(op string, err error) error {
	e := p.error(op, err)
	if p.x != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		p.x.hearers.tell(Event{Kind: Failed, Mode: p.Mode(), Resource: p.r, Place: p, Err: e})
	}
	return e
}

// numberRelaxed is the number of a relaxed access that begins, 0 if there is no observer.
func (r *Resource) numberRelaxed() uint64 {
	d := r.relaxed.o
	if d == nil || d.hearers.kinds.Load() == 0 {
		return 0
	}
	return d.accesses.Add(1)
}

// tellRelaxed tells of a relaxed access, if it has a number.
func (r *Resource) tellRelaxed(kind Kinds, number uint64, m Mode, err error) {
	if number != 0 {
		r.relaxed.o.hearers.tell(Event{Kind: kind, Mode: m, Resource: r, Relaxed: number, Err: err})
	}
}
