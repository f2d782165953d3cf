package orwl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// A run that survives makes cuts while it goes on, and each of its lives begins from one. Package lives has the protocol. This file
// connects it to the tasks. A worker that ends the round of a cut copies what its task has written, and goes on:
//
//	worker: body of round 60 ──▶ copy ──▶ commit, publish ──▶ ...
//	                              └──▶ keeper ──▶ buddy
//
// One goroutine owns the keeper. The record of a task has the contents of the resources that it writes. If several tasks of
// a node write a resource, only one of them records it: the last one in the order that has a round left. A task that ends, and shares
// a resource, makes its last record at once: another task may write next.

// cuts makes the cuts of a life on this node.
type cuts struct {
	rt      *Runtime
	keeper  *lives.Keeper // belongs to the goroutine
	life    lives.Life
	tasks   []*Task                 // those that run here
	number  map[*Task]int           // of all tasks
	names   []string                // of the resources, by number
	of      map[string]int          // numbers of the resources, by name
	writers map[string][]*Access    // by resource, in the order of their first requests
	planned atomic.Pointer[planned] // nil until the run has a plan

	at    atomic.Uint64 // the round after which tasks add records; 0: none
	spent atomic.Int64  // for how long this node has worked for this cut, in nanoseconds

	mu     sync.Mutex
	events []event
	wake   chan struct{} // has room for one
	closed bool

	cancel  context.CancelFunc
	running sync.WaitGroup

	ended    map[*Task]lives.Record // of tasks that have no further round
	restored chan map[int]lives.Record
	next     time.Time // when the chair asks for the next cut
	lead     uint64    // how many rounds ahead it asks
	whole    lives.Key
	began    time.Time
	from     uint64
	wished   bool // the chair knows that this node wants the life to end
	replays  bool // the life has not come to the run in which the program is furthest

	weighed bool          // nodes tell the chair what they have done
	watch   balance.Watch // of the chair
	busy    int64         // for how long workers have computed, in nanoseconds, when this node told it last
	awake   int64         // for how long they had not waited for others then
	ran     int64         // for how long the process had run then: see Options.runs

	ending   bool          // all tasks have ended, and the run gets a cut at its end
	settled  chan struct{} // closed when it is known if that cut is whole
	isClosed bool          // settled is closed
	forgets  bool          // the cuts of this run are dropped

	folder *folder.Folder // nil: the cuts are not on disk
	disk   chan func()    // jobs of the goroutine that has the folder
}

// event is what the goroutine takes: one of the following.
type event struct {
	from    int // the node of the message
	message *lives.Message
	round   uint64 // of the cut of the record
	record  *lives.Record
	task    *Task // it has made the record, or has ended
	saved   *saved
	ending  bool          // see cuts.ending
	finish  chan<- []byte // see cuts.finish
}

// leastInterval is the shortest time between two cuts. Cuts take mostCost of the time, or less. The chair looks once in a tick whether
// it is time for one. A cut costs copyCost times what is measured: workers copy, and the goroutine of the cuts sends and takes. The rest is the
// system's, and the other goroutines' of the network.
const (
	leastInterval = 250 * time.Millisecond
	mostCost      = 0.03
	copyCost      = 2
	coldCost      = 4 // nanoseconds of a processor for each byte of the first cut, whose memory is touched for the first time
	tick          = 20 * time.Millisecond
	largeCut      = 8 << 20 // bytes
)

// newCuts prepares the cuts of a life. The tasks have nodes.
func newCuts(rt *Runtime, s *survival) *cuts {
	c := &cuts{
		rt: rt, keeper: s.keeper, number: make(map[*Task]int), names: rt.sorted(), of: make(map[string]int),
		writers: make(map[string][]*Access), wake: make(chan struct{}, 1), ended: make(map[*Task]lives.Record), lead: 2,
		restored: make(chan map[int]lives.Record, 1), disk: make(chan func(), 16), settled: make(chan struct{}),
	}
	for i, name := range c.names {
		c.of[name] = i
	}
	for i, t := range rt.tasks {
		c.number[t] = i
		if t.here() {
			c.tasks = append(c.tasks, t)
		}
		for _, a := range t.accesses {
			if a.mode == queue.Write {
				name := a.resource.Name()
				c.writers[name] = append(c.writers[name], a)
			}
		}
	}
	on := make([]int, len(rt.tasks))
	for i, t := range rt.tasks {
		on[i] = t.on
	}
	c.weighed = rt.Nodes() > 1 && s.seed == 0 && slices.ContainsFunc(rt.tasks, func(t *Task) bool { return t.unit })
	c.watch = balance.Watch{Weights: rt.o.Nodes.weighs(), Tries: s.tries}
	c.life = lives.Life{
		Run: uint64(rt.runs), Me: rt.Node(), Nodes: rt.Nodes(), Buddy: rt.o.Nodes.buddies(), Total: len(rt.tasks), Mine: len(c.tasks),
		On: func(task int) int { return on[task] },
	}
	return c
}

// buddies are the nodes that keep copies, by node: the next node on another machine, or else the next node.
func (n *Nodes) buddies() []int {
	count := n.Count()
	machine := make([]string, count)
	if n.many() {
		for i, g := range n.grounds {
			machine[i] = g.Machine
		}
	}
	all := make([]int, count)
	for i := range all {
		all[i] = (i + 1) % count
		for k := 1; k < count; k++ {
			if j := (i + k) % count; machine[j] != machine[i] {
				all[i] = j
				break
			}
		}
	}
	return all
}

// post gives the goroutine an event, and reports whether the goroutine takes it.
func (c *cuts) post(e event) bool {
	c.mu.Lock()
	goes := !c.closed
	if goes {
		c.events = append(c.events, e)
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return goes
}

// roundEnds makes the record of a task. A worker calls it when the body of a step has ended well, and holds the accesses of the step.
func (c *cuts) roundEnds(s *step, last bool) {
	t, at, done := s.task, c.at.Load(), uint64(s.round)
	if last {
		if done > at && !c.shares(t) {
			return
		}
	} else if done != at {
		return
	}
	began := time.Now()
	r := lives.Record{Task: c.number[t], Rounds: done, Ended: last}
	var held []lives.Content
	for _, a := range t.accesses {
		if b, err := a.place.Bytes(); err == nil && c.owns(a) { // without an error the access holds
			held = append(held, lives.Content{Resource: c.of[a.resource.Name()], Bytes: b})
		}
	}
	c.rt.o.Nodes.survival.log.copies(r.Copy(held))
	c.spent.Add(int64(time.Since(began)))
	c.post(event{round: at, record: &r, task: t})
}

// shares reports whether the task writes a resource that another task writes, too.
func (c *cuts) shares(t *Task) bool {
	return slices.ContainsFunc(t.accesses, func(a *Access) bool { return a.mode == queue.Write && len(c.writers[a.resource.Name()]) > 1 })
}

// owns reports whether the record of its task has what the access writes: of the tasks of this node that write it, and have a
// round left, no other one is later in the order.
func (c *cuts) owns(a *Access) bool {
	for _, b := range slices.Backward(c.writers[a.resource.Name()]) {
		if b.task == a.task || b.task.here() && !b.task.ended.Load() {
			return b == a
		}
	}
	return false // the access only reads
}

// taskEnds is called when a task has ended well. A cut that has begun meanwhile needs its record.
func (c *cuts) taskEnds(t *Task) {
	if c.at.Load() > 0 {
		c.post(event{task: t})
	}
}

// lasts adds the record of a task that has ended to the cut that is under way.
func (c *cuts) lasts(ctx context.Context, t *Task) {
	at := c.at.Load()
	if at == 0 {
		return
	}
	r, is := c.ended[t]
	if p := c.planned.Load(); !is && (p == nil || !c.shares(t)) { // no other task writes what it wrote
		r = lives.Record{Task: c.number[t], Rounds: uint64(t.step.round), Ended: true}
		var held []lives.Content
		for _, a := range t.accesses {
			if t.step.round > 0 && c.owns(a) {
				held = append(held, lives.Content{Resource: c.of[a.resource.Name()], Bytes: p.hold(a).Bytes()})
			}
		}
		r.Copy(held)
		c.ended[t], is = r, true
	}
	if is && r.Rounds <= at { // else the task passed the cut: its record comes, or has come
		c.send(ctx, c.keeper.Add(at, r))
	}
}

// take takes a message of another node. It keeps the bulk.
func (c *cuts) take(from int, header, bulk []byte) error {
	m, err := lives.Parse(header, bulk, lives.Limits{Run: c.life.Run, Nodes: c.life.Nodes, Tasks: c.life.Total, Resources: len(c.names)})
	switch former := errors.Is(err, lives.ErrFormer); {
	case err != nil && !former:
		return fmt.Errorf("%w: %w", node.ErrProtocol, err)
	case former || !c.post(event{from: from, message: &m}):
		c.tooLate(&m)
	}
	return nil
}

// tooLate takes a message of a run that has ended here. If the message ends the life on other nodes, it does so here, too.
func (c *cuts) tooLate(m *lives.Message) {
	if m != nil && m.Kind == lives.Whole && m.Last {
		c.rt.o.Nodes.reason.End(errLifeOver)
	}
}

// start begins the life, and returns the channel of the records that it begins from.
func (c *cuts) start(ctx context.Context) (<-chan map[int]lives.Record, error) {
	s := c.rt.o.Nodes.survival
	if s.folder != nil {
		c.life.Program = c.rt.command()
	}
	c.life.Number, c.life.From, c.life.Disk = s.base+s.life, lives.Choose(s.reports, c.life.Run, c.life.Program), s.folder != nil
	c.from, c.folder, c.replays, c.began = c.life.From.From.Round, s.folder, c.life.Run < lives.Newest(s.reports).Run, time.Now()
	if err := s.load(c.life.Me, c.life.From); err != nil {
		return nil, err
	}
	ctx, c.cancel = context.WithCancel(ctx)
	first, restored := c.keeper.Begin(c.life), c.restored
	c.running.Go(func() { c.run(ctx, first) })
	if c.folder != nil {
		c.running.Go(func() { c.writes(ctx) })
	}
	return restored, nil
}

// stop stops the goroutines, and does what they have left. From then on the cuts of this life do not change.
func (c *cuts) stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	for _, e := range c.events {
		c.tooLate(e.message)
	}
	c.closed, c.events = true, nil
	c.mu.Unlock()
	if c.cancel == nil { // the run has not begun
		return
	}
	c.cancel()
	c.running.Wait()
	switch whole := c.keeper.Whole(); {
	case c.forgets:
		c.keeper.Forget()
	case c.folder != nil && whole.Round == lives.End:
		c.keep(whole) // the goroutine of the folder may have ended before it did that
	}
}

// run is the goroutine. It ends with ctx.
func (c *cuts) run(ctx context.Context, first []lives.Letter) {
	c.next = c.began.Add(c.interval(time.Duration(c.written() * coldCost / copyCost)))
	c.send(ctx, first)
	c.restores()
	c.wishes(ctx)
	timer := time.NewTicker(min(tick, c.interval(0)))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-timer.C:
			c.wishes(ctx)
			c.asks(ctx)
		}
		c.mu.Lock()
		all := c.events
		c.events = nil
		c.mu.Unlock()
		began := time.Now()
		for _, e := range all {
			c.does(ctx, e)
		}
		c.spent.Add(int64(time.Since(began)))
		if c.ending {
			c.asks(ctx)
		}
		c.saves(ctx)
	}
}

// does does what an event wants done.
func (c *cuts) does(ctx context.Context, e event) {
	switch {
	case e.finish != nil:
		e.finish <- c.tellFinish()
	case e.ending:
		c.ending = true
	case e.saved != nil:
		c.isSaved(ctx, *e.saved)
	case e.message != nil:
		c.takes(ctx, e.from, *e.message)
	case e.record == nil:
		c.lasts(ctx, e.task)
	case e.record.Ended:
		c.ended[e.task] = *e.record
		c.lasts(ctx, e.task) // a cut may have begun since, when the task had ended
	default:
		c.send(ctx, c.keeper.Add(e.round, *e.record))
	}
}

// takes takes a message of a node, or of this one.
func (c *cuts) takes(ctx context.Context, from int, m lives.Message) {
	if round, is := c.keeper.Asks(m); is {
		c.begin(ctx, round)
		return
	}
	switch {
	case m.Kind != lives.Past:
	case m.Most > 0:
		c.lead *= 2
	default: // a node could not keep its part
		c.next = time.Now().Add(c.interval(time.Duration(c.spent.Swap(0))))
	}
	c.send(ctx, c.keeper.Take(from, m))
	c.restores()
	if whole := c.keeper.Whole(); whole != c.whole {
		c.whole = whole
		c.next = time.Now().Add(c.interval(time.Duration(c.spent.Swap(0))))
		c.lead = 2
		s := c.rt.o.Nodes.survival
		if whole.Round > c.from { // else the life has begun from this cut
			s.made = true
			s.ends--
		}
		c.keeps(ctx, whole)
		c.collect()
		s.log.whole(whole)
		c.rt.o.Log.Debug("orwl: a cut is whole", "life", s.life, "cut", whole)
	}
	if all, is := c.keeper.Loads(); is && c.weighed {
		c.weigh(all)
	}
	if c.keeper.Over() {
		n := c.rt.o.Nodes
		n.nextWeights = c.keeper.Weights()
		n.reason.End(errLifeOver)
	}
	if c.keeper.Settled() && !c.isClosed {
		c.isClosed = true
		close(c.settled)
	}
}

// collect frees the memory of the cut before the whole one, if it is much. The collector would let twice as much come together, and
// new memory costs more than memory that was used before.
func (c *cuts) collect() {
	if c.written() >= largeCut {
		runtime.GC()
	}
}

// wishes tells the chair, once, that the life is to end with the next cut: this node leaves, or another one waits for the next life.
func (c *cuts) wishes(ctx context.Context) {
	switch n := c.rt.o.Nodes; {
	case c.wished, c.replays:
	case n.survival.leaves.Load():
		c.wished = true
		c.rt.o.Log.Info("orwl: this node leaves the run at the next cut", "node", n.seat())
		c.send(ctx, c.keeper.Leave())
	case c.life.Me == 0 && (n.node.others() || n.survival.seed != 0 && n.survival.ends <= 0):
		c.wished = true
		c.send(ctx, c.keeper.Want())
	}
}

// leastPrice is how much time an imbalance must cost before a life ends for it. A machine may be slow for a moment, and a run may take
// only a second or two: neither needs another life.
const leastPrice = time.Second

// did is what this node has done in this run and life.
func (c *cuts) did() (l balance.Load) {
	p := c.planned.Load()
	if p == nil || p.began.Load() == 0 {
		return l
	}
	for _, t := range c.tasks {
		if t.unit {
			if !t.ended.Load() {
				l.Units++
			}
			l.Done += t.did()
		}
	}
	l.Workers, l.Wall = len(p.workers), time.Now().UnixNano()-p.began.Load()
	l.Busy = c.computed(max(0, int64(l.Workers)*l.Wall-p.pool.Rested()))
	return l
}

// computed is for how long the workers have computed since the life began. They were awake for so long. Between two cuts they have computed
// no longer than the whole process has run, and until the first cut no longer than it has run in all lives. So a body that sleeps, or waits
// for a disk, does not make its node slow: it would take as long on any node.
func (c *cuts) computed(awake int64) int64 {
	ran := c.rt.o.runs()
	did := awake - c.awake
	if ran > 0 { // else it is not known
		did = min(did, max(0, ran-c.ran)) // a thread that ends takes its time with it
	}
	c.busy, c.awake, c.ran = c.busy+did, awake, ran
	return c.busy
}

// runs is for how long all threads of this process together have run, or have waited for a processor, in nanoseconds. A node that gets less of a processor
// than another one is slow, so waiting counts. It is 0 where the system does not say it: only Linux does.
func (o *Options) runs() (sum int64) {
	if o.ran != nil {
		return o.ran()
	}
	const threads = "/proc/self/task"
	all, _ := os.ReadDir(threads) // nothing on another system
	for _, thread := range all {
		var ran, waited int64
		text, err := os.ReadFile(filepath.Join(threads, thread.Name(), "schedstat"))
		if err == nil { // else the thread has ended
			_, err = fmt.Sscan(string(text), &ran, &waited)
		}
		if err == nil {
			sum += ran + waited
		}
	}
	return sum
}

// weigh has the chair end the life if the nodes differ in speed from what their weights say, and that costs more than another life.
func (c *cuts) weigh(all []balance.Load) {
	s := c.rt.o.Nodes.survival
	if c.life.Run == 1 {
		s.price = time.Unix(0, c.planned.Load().began.Load()).Sub(s.since)
	}
	c.watch.Price = int64(max(s.price, leastPrice))
	to := c.watch.Add(all)
	s.tries = c.watch.Tries
	if to == nil {
		return
	}
	c.weighed = false // the next life goes on with that
	c.keeper.Weigh(to)
	c.rt.o.Log.Info("orwl: the nodes get other shares of the work, by their speed, from the next cut on", "seats", s.log.seats(), "from", c.watch.Weights, "to", to)
}

// begin begins a cut after a round, unless a task may have passed that round. A worker counts the round of a task by an ordinary store, and then
// looks at c.at. Others see the store before the next round of the task. So a task that seems to be two rounds before the cut looks again, and sees it.
func (c *cuts) begin(ctx context.Context, round uint64) {
	if c.weighed && !c.replays {
		c.send(ctx, c.keeper.Did(round, c.did()))
	}
	c.at.Store(round)
	most, passed := uint64(0), false
	for _, t := range c.tasks {
		switch n := uint64(t.Round()); {
		case t.ended.Load():
			passed = passed || uint64(t.step.round) > round
		case n+1 >= round:
			most, passed = max(most, n), true
		}
	}
	if passed {
		c.at.Store(0)
		c.send(ctx, c.keeper.Passed(round, most))
		return
	}
	for _, t := range c.tasks {
		if t.ended.Load() {
			c.lasts(ctx, t)
		}
	}
}

// asks has the chair ask for the next cut when it is time.
func (c *cuts) asks(ctx context.Context) {
	now := time.Now()
	asking, furthest := c.keeper.Asking()
	if c.ending {
		if c.life.Me == 0 && !asking {
			c.send(ctx, c.keeper.Ask(lives.End))
		}
		return
	}
	wanted, alone := c.keeper.Wanted(), c.life.Nodes < 2 && !c.life.Disk && c.rt.o.Nodes.survival.seed == 0
	if c.life.Me != 0 || asking || !wanted && (alone || now.Before(c.next)) || c.planned.Load() == nil || len(c.number) == 0 {
		return
	}
	for _, t := range c.tasks {
		furthest = max(furthest, uint64(t.Round()))
	}
	rate := float64(furthest-min(furthest, c.from)) / float64(max(now.Sub(c.began), time.Millisecond))
	c.send(ctx, c.keeper.Ask(furthest+c.lead+uint64(rate*float64(tick))))
}

// send sends letters. The contents are not changed any more.
func (c *cuts) send(ctx context.Context, letters []lives.Letter) {
	for _, l := range letters {
		if l.To == c.life.Me {
			c.takes(ctx, l.To, l.Message)
			continue
		}
		head, bulk := l.Encode()
		n := c.rt.o.Nodes.node
		if len(bulk) > 0 && n.Pace(ctx, l.To) != nil {
			return // the node is lost, or the run has ended
		}
		// A node that is lost ends the life. A record that cannot be sent for another reason would let no cut be whole.
		if err := n.Send(l.To, cutChannel, head, bulk, true); err != nil && n.Lost(l.To) == nil && ctx.Err() == nil {
			c.rt.o.Nodes.survival.log.fails()
			c.rt.o.Log.Error("orwl: a cut cannot be whole, so a loss would begin the run again", "node", l.To, "task", c.rt.tasks[l.Task].name, "why", err)
			if l.Kind == lives.Part && l.Owner == c.life.Me {
				c.send(ctx, c.keeper.Passed(l.Round, 0))
			}
		}
	}
}

// cut takes a message about a cut.
func (n *Nodes) cut(from int, header, bulk []byte) error {
	_, err := n.cutSwap(from, header, slices.Clone(bulk))
	return err
}

// cutLent takes a message about a cut whose bulk is in memory of the other node.
func (n *Nodes) cutLent(from int, header, bulk []byte, valid func() bool) error {
	if bulk = slices.Clone(bulk); !valid() {
		return nil
	}
	_, err := n.cutSwap(from, header, bulk)
	return err
}

// cutSwap takes a message about a cut, and keeps the memory of its bulk.
func (n *Nodes) cutSwap(from int, header, bulk []byte) (other []byte, err error) {
	c := n.cuts.Load()
	if c == nil {
		return bulk, fmt.Errorf("%w: a message of a life that has not begun here", node.ErrProtocol)
	}
	return nil, c.take(from, header, bulk)
}
