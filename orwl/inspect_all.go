package orwl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/linked"
	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/launch"
)

// A node knows what its own tasks wait for. To name the culprit of a hang, it asks the others:
//
//	InspectAll ──▶ question ──▶ each node: Inspect ──▶ answer, with the state
//
// A node has one question at most that it has not answered. So a process that stands still piles nothing up, and
// the time since that question is for how long it has been silent.

// looking is the questions of this node. They go to all nodes at once, and one look follows another.
type looking struct {
	rt  atomic.Pointer[Runtime] // nil: the program has made none yet
	one sync.Mutex              // held for a look

	mu      sync.Mutex
	since   []time.Time // by node: when it was asked what it has not answered; zero: it has
	answers chan answer // of the look that goes on; it has room for all nodes
}

// answer is how the program is on a node.
type answer struct {
	node  int
	state *inspect.State
}

const (
	answerTime = 2 * time.Second       // for a node that has answered so far
	silentTime = 50 * time.Millisecond // for the others
)

// InspectAll looks at the program on all nodes: its Why names what the tasks wait for in the end. It waits for the answers of
// other nodes for two seconds at most, or until ctx ends. A node that does not answer is asked no more until it does. If
// tasks stand still, it also says where their bodies are.
func (rt *Runtime) InspectAll(ctx context.Context) inspect.Run {
	all := rt.inspectAll(ctx, false)
	if all.Why().Stands {
		all = rt.inspectAll(ctx, true)
	}
	return all
}

// why names the culprit. If something has moved a moment ago, it takes a second to see whether that goes on.
func (rt *Runtime) why(ctx context.Context) string {
	all := rt.InspectAll(ctx)
	if !all.Why().Stands && all.Runs() {
		again := time.NewTimer(inspect.Again)
		defer again.Stop()
		select {
		case <-again.C:
		case <-ctx.Done():
		}
		all = rt.InspectAll(ctx)
	}
	return all.Why().Text
}

// inspectAll looks at the program on all nodes. A deep look tells where bodies are, and stops the processes for that.
func (rt *Runtime) inspectAll(ctx context.Context, deep bool) inspect.Run {
	n := rt.o.Nodes
	all := inspect.Run{Now: time.Now(), From: rt.Node(), Nodes: make([]inspect.NodeReport, n.Count())}
	for i := range all.Nodes {
		all.Nodes[i] = inspect.NodeReport{Node: i, Process: n.process(i), Status: n.status(i)}
	}
	if n.many() {
		n.looking.one.Lock()
		defer n.looking.one.Unlock()
		n.ask(ctx, deep, all.Nodes)
	}
	mine := rt.inspect(deep)
	all.Nodes[rt.Node()].State = &mine
	return all
}

// watched serves the live page if ORWL_WATCH says so.
func (rt *Runtime) watched() (end func()) {
	at := os.Getenv("ORWL_WATCH")
	switch {
	case at == "" || at == "0":
		return func() {}
	case linked.Watch == nil:
		rt.o.Log.Warn("orwl: ORWL_WATCH is set, and the program has no page: write import _ \"github.com/orwl/go-orwl/orwl/watch\" in it")
		return func() {}
	}
	w := linked.Watched{Runtime: rt, At: at, Node: rt.Node(), Log: rt.o.Log}
	if n := rt.o.Nodes; n.many() {
		w.Port, w.Key = n.place.PortOffset(), n.place.Key != nil && n.place.How != launch.Spawned
	}
	return linked.Watch(w)
}

// inspect is Inspect, deep or not.
func (rt *Runtime) inspect(deep bool) inspect.State {
	s := rt.Inspect()
	if deep {
		rt.locate(&s)
	}
	return s
}

// process is the process of a node.
func (n *Nodes) process(number int) inspect.Process {
	if !n.many() {
		host, _ := os.Hostname()
		return inspect.Process{ID: os.Getpid(), Host: host}
	}
	return inspect.Process{ID: n.grounds[number].Process, Host: n.grounds[number].Host}
}

// ask asks the other nodes, and puts their answers into the reports.
func (n *Nodes) ask(ctx context.Context, deep bool, reports []inspect.NodeReport) {
	l := &n.looking
	var fresh []int
	left, patience := 0, silentTime
	l.mu.Lock()
	l.answers = make(chan answer, len(reports))
	for i := range reports {
		if i == n.Number() || n.node.Lost(i) != nil {
			continue
		}
		if left++; l.since[i].IsZero() {
			fresh, patience, l.since[i] = append(fresh, i), answerTime, time.Now()
		}
	}
	l.mu.Unlock()
	for _, to := range fresh {
		// If it fails, that node is lost, and this one is about to learn it.
		_ = n.node.Send(to, lookChannel, message.Look{Deep: deep}.Encode(), nil, false)
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for waits := true; waits && left > 0; {
		select {
		case a := <-l.answers:
			reports[a.node].State = a.state
			left--
		case <-enough.C:
			waits = false
		case <-ctx.Done():
			waits = false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = nil
	for i := range reports {
		if reports[i].State == nil && !l.since[i].IsZero() {
			reports[i].Silent.Duration = time.Since(l.since[i])
		}
	}
}

// looked takes a question of another node, or the answer of one.
func (n *Nodes) looked(from int, header, bulk []byte) error {
	m, err := message.ParseLook(header)
	if err != nil {
		return fmt.Errorf("%w: %w", node.ErrProtocol, err)
	}
	if !m.Answer {
		go n.tellLook(from, m)
		return nil
	}
	var s inspect.State
	if err := json.Unmarshal(bulk, &s); err != nil {
		return fmt.Errorf("%w: the state of node %d: %w", node.ErrProtocol, from, err)
	}
	l := &n.looking
	l.mu.Lock()
	defer l.mu.Unlock()
	if asked := !l.since[from].IsZero(); asked && l.answers != nil {
		l.answers <- answer{from, &s} // each node has one question
	}
	l.since[from] = time.Time{}
	return nil
}

// tellLook answers the question of another node.
func (n *Nodes) tellLook(to int, m message.Look) {
	s := inspect.State{Node: n.Number()}
	if rt := n.looking.rt.Load(); rt != nil {
		s = rt.inspect(m.Deep)
	}
	b, err := json.Marshal(s)
	if err != nil {
		n.log.Error("orwl: another node asks for the state of the program", "why", err)
		return
	}
	// If it fails, that node is lost.
	_ = n.node.Send(to, lookChannel, message.Look{Answer: true}.Encode(), b, false)
}

// watcher looks at a run now and then, to notice when nothing moves any more. It reads
// only words that the tasks write anyway, so it does not slow them.
type watcher struct {
	rt   *Runtime
	told time.Time // the time of the last change before the last report
}

// looksPerStall is how often the watcher looks in one Options.Stall.
const looksPerStall = 4

// watch reports stalls, and on SIGQUIT, until the caller calls stop. It goes on after
// the end of the run's context: a task that does not heed that end needs the report
// most.
func (rt *Runtime) watch() (stop func()) {
	var all sync.WaitGroup
	ended := make(chan struct{})
	rt.seen.Begin(time.Now())
	quit := make(chan os.Signal, 1)
	if len(quitSignals) > 0 {
		signal.Notify(quit, quitSignals...)
	}
	all.Go(func() { rt.watchUntil(ended, quit) })
	return func() {
		signal.Stop(quit)
		close(ended)
		all.Wait()
	}
}

func (rt *Runtime) watchUntil(ended <-chan struct{}, quit chan os.Signal) {
	w := watcher{rt: rt}
	var tick <-chan time.Time
	if rt.o.Stall > 0 {
		ticker := time.NewTicker(rt.o.Stall / looksPerStall)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ended:
			return
		case <-tick:
			w.look()
		case <-quit:
			// Go handles the next signal again: it prints every goroutine and ends.
			signal.Stop(quit)
			s := rt.Inspect()
			s.Why = rt.why(context.Background())
			os.Stderr.WriteString(s.String())
			rt.flight("quit")
		}
	}
}

// look reports a stall, and then not again until something has moved. If all tasks have ended, a node alone is about to end, too.
func (w *watcher) look() {
	rt := w.rt
	l := rt.look()
	moved := rt.seen.Moved()
	if !w.told.Equal(moved) {
		rt.still.Store(false)
	}
	if l.Still >= rt.o.Stall && !w.told.Equal(moved) && (l.Running() || rt.Nodes() > 1) {
		w.told = moved
		rt.stalled(l)
	}
}

// stalled reports a stall, with the culprit among all nodes.
func (rt *Runtime) stalled(l *looks.Look) {
	rt.stalls.Add(1)
	rt.still.Store(true)
	rt.flight("stall")
	s := rt.state(l)
	s.Why = rt.InspectAll(context.Background()).Why().Text
	if rt.o.onStall != nil {
		rt.o.onStall(s)
		return
	}
	running := 0
	for _, t := range s.Tasks {
		if t.Runs() {
			running++
		}
	}
	rt.o.Log.Warn("orwl: nothing has moved", "for", s.Still.Round(time.Millisecond), "tasks", running, "report", "\n"+s.String())
}

// flightVariable names the folder of the flight recorder: what the tasks did last is written there when nothing moves, at SIGQUIT, and when
// the run ends with an error.
const flightVariable = "ORWL_FLIGHT"

// flies begins to record if ORWL_FLIGHT says so.
func (rt *Runtime) flies() {
	rt.flight = func(string) {}
	dir := os.Getenv(flightVariable)
	switch {
	case dir == "":
		return
	case linked.Flight == nil:
		rt.o.Log.Warn("orwl: ORWL_FLIGHT is set, and the program has no recorder: write import _ \"github.com/orwl/go-orwl/orwl/trace\" in it")
		return
	}
	observer, write := linked.Flight(linked.Flown{Dir: dir, Log: rt.o.Log})
	rt.o.Observers = append(slices.Clone(rt.o.Observers), observer.(Observer))
	rt.flight = write
}
