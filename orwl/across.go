package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/internal/versions"
)

// A run on several nodes goes by one plan. Each node has the whole plan, runs its own tasks, and has a copy of each
// resource that they use. Package versions says what the nodes tell each other of: what is read, what is written,
// and the bytes. Here it meets the network:
//
//	a body has ended ──▶ Released ──▶ Pass ──▶ another node ──▶ Take ──▶ Raise, and the books go on
//
// The run begins on a node when its copies have their first versions. It ends when the tasks of all nodes have ended,
// and each copy has its last version.

// across is a node's part in a run on several nodes. The channels are closed: began when all copies here have their
// first version, idle when no task here has a round left, over when all copies here have their last version.
type across struct {
	rt    *Runtime
	p     *planned
	nodes *Nodes
	part  *versions.Node
	holds []*queue.Hold     // by the plan's number of the resource
	heard map[int][]*Access // by the counter of a write elsewhere: the accesses here that wait for it
	works sync.Pool         // of *work

	began, idle, over chan struct{}
	begun, ended      sync.Once

	// Messages are kept until the copies here have the stamps of their homes, and dropped when the run is over.
	mu    sync.RWMutex
	state atomic.Int32
	early []early
}

// early is a message that has come before the run has begun here.
type early struct {
	from         int
	header, bulk []byte
}

// The states of a node's part.
const (
	before = iota
	goesOn
	isOver
)

// work is what a call of the part wants done, and room for the messages.
type work struct {
	versions.Work
	header, bulk []byte
	spans        []versions.Span // of some rounds
	end          []int           // of the spans of each of them
}

// newAcross makes the part of this node. Its resources are there, with their homes.
func newAcross(rt *Runtime, p *planned) (*across, error) {
	x := &across{
		rt: rt, p: p, nodes: rt.o.Nodes, holds: p.of, heard: make(map[int][]*Access),
		began: make(chan struct{}), idle: make(chan struct{}), over: make(chan struct{}),
	}
	x.works.New = func() any { return new(work) }
	copies := make([]versions.Copy, len(x.holds))
	for n, h := range x.holds {
		if h != nil {
			version, _ := h.Seen()
			copies[n] = versions.Copy{Memory: h, Zero: version == 0}
		}
	}
	for _, t := range p.run.tasks {
		for _, a := range t.accesses {
			if t.here() && !t.idles() {
				x.hear(a)
			}
		}
	}
	var err error
	x.part, err = versions.New(versions.Options{
		Run: uint64(rt.runs), Node: rt.Node(), Nodes: rt.Nodes(), Plan: p.plan, Copies: copies,
	})
	return x, err
}

// begin returns when the first versions of all resources are here. The run has the resources of this node.
func (x *across) begin(ctx context.Context) error {
	x.nodes.across.Store(x)
	// From here on, all nodes take messages of this run.
	all, err := x.rt.gather(ctx, "planned", x.stamps(x.rt.Node()))
	if err == nil {
		err = x.follow(all)
	}
	if err == nil {
		err = x.open()
	}
	if err != nil {
		return err
	}
	w := x.work()
	x.part.Begin(&w.Work)
	x.done(w)
	select {
	case <-x.began:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stamps are the versions and fences of the resources whose home is here.
func (x *across) stamps(here int) []byte {
	var s message.Stamps
	for n, h := range x.holds {
		if h != nil && x.p.plan.Home(n) == here {
			version, fence := h.Seen()
			s.Add(n, version, fence)
		}
	}
	return s.Encode()
}

// follow gives the copies here the versions and fences of their homes.
func (x *across) follow(all [][]byte) error {
	for from, b := range all {
		if from == x.nodes.Number() {
			continue
		}
		if b == nil {
			return &NodeError{Node: from, Lost: true, Text: "it was lost before the run began"}
		}
		s, err := message.ParseStamps(b, len(x.holds))
		if err != nil {
			return fmt.Errorf("node %d: %w", from, err)
		}
		for i, r := range s.Resources {
			if h := x.holds[r]; h != nil && x.p.plan.Home(r) == from {
				h.Follow(s.Versions[i], s.Fences[i])
			}
		}
	}
	return nil
}

func (x *across) work() *work { return x.works.Get().(*work) }

// done does what a call wants done.
func (x *across) done(w *work) {
	x.raise(w)
	x.send(w)
	x.works.Put(w)
}

// raise publishes what other nodes have done, and notes whether the run has begun here, or is over.
func (x *across) raise(w *work) {
	for _, p := range w.Publish {
		x.p.pool.Raise(p.Counter, p.Round)
	}
	w.Publish = w.Publish[:0]
	w.spans, w.end = w.spans[:0], w.end[:0]
	if x.part.Begun() {
		x.begun.Do(func() { close(x.began) })
	}
	if x.part.Over() {
		x.ended.Do(func() { close(x.over) })
	}
}

// send sends what waits for other nodes.
func (x *across) send(w *work) {
	for _, to := range w.Nodes {
		for ok := true; ok; {
			if w.header, w.bulk, ok = x.part.Pass(to, w.header[:0], w.bulk[:0]); ok {
				// If it fails, that node is lost, and this one is about to learn it.
				_ = x.nodes.node.Post(to, planChannel, w.header, w.bulk, false)
				x.nodes.traffic.sent.Add(1)
				x.nodes.traffic.out.Add(uint64(len(w.bulk)))
				x.nodes.sends(to, w.header, w.bulk)
			}
		}
	}
	w.Nodes = w.Nodes[:0]
}

// open takes the messages that have come early, and from now on all at once.
func (x *across) open() error {
	x.mu.Lock()
	x.state.Store(goesOn)
	all := x.early
	x.early = nil
	x.mu.Unlock()
	for _, m := range all {
		if err := x.take(m.from, m.header, m.bulk); err != nil {
			return err
		}
	}
	return nil
}

// keeps keeps a message that has come before the run has begun here.
func (x *across) keeps(from int, header, bulk []byte) bool {
	if x.state.Load() != before {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state.Load() != before {
		return false
	}
	x.early = append(x.early, early{from, bytes.Clone(header), bytes.Clone(bulk)})
	return true
}

// take takes a message of another node.
func (x *across) take(from int, header, bulk []byte) error {
	if x.keeps(from, header, bulk) {
		return nil
	}
	x.nodes.traffic.received.Add(1)
	x.nodes.traffic.in.Add(uint64(len(bulk)))
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.state.Load() == isOver {
		return nil
	}
	w := x.work()
	if err := x.part.Take(from, header, bulk, &w.Work); errors.Is(err, versions.ErrOtherRun) {
		return nil // it is late: its run is over
	} else if err != nil {
		x.rt.stop(x.p.run, fmt.Errorf("orwl: node %d: %w", from, err))
		return err
	}
	for _, p := range w.Publish {
		x.tell(p.Counter, p.Bytes)
	}
	x.done(w)
	return nil
}

// hear notes for which writes elsewhere an access waits.
func (x *across) hear(a *Access) {
	for _, when := range x.p.plan.When(x.p.counter(a)) {
		c := when.Counter()
		if x.p.tasks[c].here() {
			continue
		}
		for _, b := range x.p.accesses(c) {
			if b.resource == a.resource && b.mode == queue.Write {
				x.heard[c] = append(x.heard[c], a)
			}
		}
	}
}

// tell tells the observers of accesses that wait for a write elsewhere that it has come.
func (x *across) tell(counter, bytes int) {
	for _, a := range x.heard[counter] {
		a.place.Arrived(bytes)
	}
}

// ends notes whether the round of a place may have changed the bytes. The place holds.
func (w *work) ends(place *queue.Place) {
	if place.Wrote() {
		w.spans = append(w.spans, versions.Span{Len: place.Size()})
	}
	w.end = append(w.end, len(w.spans))
}

// released notes what other nodes must hear of a round. i counts the calls of ends. The round is committed here: as soon
// as it is noted, another goroutine may send it, and the next version may come.
func (x *across) released(w *work, i, counter int, round uint32, state versions.State) error {
	begin := 0
	if i > 0 {
		begin = w.end[i-1]
	}
	return x.part.Released(counter, round, w.spans[begin:w.end[i]], state, &w.Work)
}

// then is the state of an access after a round of its counter.
func (x *across) then(counter int, round uint32, last bool) versions.State {
	switch {
	case !last:
		return versions.Goes
	case round >= x.p.plan.Turns(counter):
		return versions.Ended
	}
	return versions.Rests
}

// turn notes an empty turn.
func (x *across) turn(counter int, round uint32, last bool) {
	then := versions.Rests
	if last {
		then = versions.Ended
	}
	w := x.work()
	_ = x.part.Released(counter, round, nil, then, &w.Work) // no bytes change
	x.done(w)
}

// finish ends the run of this node when the tasks of all nodes have ended, and each copy has its last version.
// bodies is closed when the tasks with goroutines have ended here.
func (x *across) finish(ctx context.Context, bodies <-chan struct{}) {
	defer x.p.pool.Stop()
	for _, until := range []<-chan struct{}{x.idle, bodies, x.over} {
		select {
		case <-until:
		case <-ctx.Done():
			x.rt.stop(x.p.run, context.Cause(ctx)) // the other nodes wait for this one
			return
		}
	}
	if _, err := x.rt.gather(ctx, "ran", nil); err != nil {
		x.rt.stop(x.p.run, err)
	}
}

// unheard is for how long a message of another node waits at most for a worker that attends to it.
const unheard = 5 * time.Millisecond

// listens takes what comes from other nodes now and then, until stop: a worker that attends to it may be in a body that takes longer
// than usual, or never ends.
func (x *across) listens() (stop func()) {
	again, ended := time.NewTicker(unheard), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-again.C:
				x.nodes.node.Look()
			case <-ended:
				return
			}
		}
	})
	return func() {
		again.Stop()
		close(ended)
		all.Wait()
	}
}

// close has no message change a copy any more.
func (x *across) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state.Store(isOver)
}

// planned takes a message of a run by a plan.
func (n *Nodes) planned(from int, header, bulk []byte) error {
	x := n.across.Load()
	if x == nil {
		return fmt.Errorf("%w: a message of a run that has not begun here", node.ErrProtocol)
	}
	if err := x.take(from, header, bulk); err != nil {
		return fmt.Errorf("%w: %w", node.ErrProtocol, err)
	}
	return nil
}
