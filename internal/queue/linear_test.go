package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/orwl/go-orwl/internal/invariant"
)

// A history is linear if its operations have an order, each somewhere between its call
// and its return, that a register behind the plain FIFO gives, too.

// deed is an operation in the model.
type deed struct {
	what  string
	id    ID
	next  ID // of a renewal
	mode  Mode
	write uint64 // by release and renew of a writer
}

// outcome is the result of a deed.
type outcome struct {
	yes                   bool // acquired, or tests as granted
	read, fence, versions uint64
}

// row is the queue: its requests in their order.
type row []queuedUp

type queuedUp struct {
	id   ID
	mode Mode
}

func (q row) at(id ID) int {
	return slices.IndexFunc(q, func(r queuedUp) bool { return r.id == id })
}

// granted is the number of requests at the front that are granted.
func (q row) granted() int {
	for i, r := range q {
		if i > 0 && (r.mode == Write || q[0].mode == Write) {
			return i
		}
	}
	return len(q)
}

// register is a state of the model. It never changes once made.
type register struct {
	queue                  row
	value, fence, versions uint64
}

func (s register) granted(id ID) bool {
	at := s.queue.at(id)
	return at >= 0 && at < s.queue.granted()
}

func (s register) without(id ID) register {
	at := s.queue.at(id)
	s.queue = slices.Delete(slices.Clone(s.queue), at, at+1)
	return s
}

func (s register) with(id ID, m Mode) register {
	s.queue = append(slices.Clip(s.queue), queuedUp{id, m})
	return s
}

// do reports whether a deed may have that outcome, and the state after it.
func (s register) do(in deed, out outcome) (bool, register) {
	at := s.queue.at(in.id)
	switch in.what {
	case "request":
		return at < 0, s.with(in.id, in.mode)
	case "acquire":
		if !out.yes {
			return at >= 0, s
		}
		if !s.granted(in.id) {
			return false, s
		}
		if in.mode == Write {
			s.fence++
		}
		return out.read == s.value && out.fence == s.fence && out.versions == s.versions, s
	case "release", "renew":
		if !s.granted(in.id) {
			return false, s
		}
		if in.mode == Write {
			s.value, s.versions = in.write, s.versions+1
		}
		if in.what == "renew" {
			s = s.with(in.next, in.mode)
		}
		return true, s.without(in.id)
	case "cancel":
		if at < 0 {
			return false, s
		}
		return true, s.without(in.id)
	case "test":
		// A test may miss a grant that a cancellation has made possible: the goroutine
		// that completes the ghost is still about to grant.
		return !out.yes || s.granted(in.id), s
	case "told":
		return at < 0 || s.granted(in.id), s // also of a cancelled request
	}
	panic(in.what)
}

var linear = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(s, in, out any) (bool, any) { return s.(register).do(in.(deed), out.(outcome)) },
	Equal: func(a, b any) bool {
		x, y := a.(register), b.(register)
		return x.value == y.value && x.fence == y.fence && x.versions == y.versions && slices.Equal(x.queue, y.queue)
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v %+v", in, out) },
}

// clerk records each call and return with its time.
type clerk struct {
	now  atomic.Int64 // orders any two calls or returns
	ids  atomic.Uint64
	mu   sync.Mutex
	done []porcupine.Operation
}

func (c *clerk) note(client int, in deed, do func() outcome) {
	call := c.now.Add(1)
	out := do()
	end := c.now.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

func (c *clerk) id() ID { return ID(c.ids.Add(1)) }

// yielder lets other goroutines run between the steps of a queue.
type yielder struct{}

func (yielder) point() {
	if rand.IntN(4) == 0 {
		runtime.Gosched()
	}
}
func (yielder) saw(uint64) {}

// client is a goroutine with random steps at a place of its own.
type client struct {
	*clerk
	t   *testing.T
	n   int
	r   *Resource
	rng *rand.Rand
	p   Place
	now ID
}

func (c *client) fine(err error) {
	if err != nil {
		c.t.Error(err)
	}
}

func (c *client) request() {
	m := Mode(c.rng.IntN(2))
	c.now = c.id()
	c.note(c.n, deed{what: "request", id: c.now, mode: m}, func() outcome {
		c.fine(c.p.Request(c.r, m))
		return outcome{}
	})
}

// acquire reports whether it has acquired.
func (c *client) acquire(ctx context.Context) (yes bool) {
	c.note(c.n, deed{what: "acquire", id: c.now, mode: c.p.Mode()}, func() outcome {
		if err := c.p.Acquire(ctx); err != nil {
			if !errors.Is(err, context.Canceled) {
				c.t.Error(err)
			}
			return outcome{}
		}
		yes = true
		b, err := c.p.Bytes()
		c.fine(err)
		return outcome{true, binary.NativeEndian.Uint64(b), c.p.Fence(), c.p.Version()}
	})
	return yes
}

func (c *client) leave(what string) {
	in := deed{what: what, id: c.now, mode: c.p.Mode(), write: uint64(c.now)}
	do := c.p.Release
	if what == "renew" {
		in.next = c.id()
		do = c.p.Renew
	}
	if in.mode == Write {
		b, err := c.p.Writable()
		c.fine(err)
		binary.NativeEndian.PutUint64(b, in.write)
	}
	c.note(c.n, in, func() outcome {
		c.fine(do())
		return outcome{}
	})
	c.now = in.next
}

func (c *client) cancel() {
	c.note(c.n, deed{what: "cancel", id: c.now}, func() outcome {
		c.fine(c.p.Cancel())
		return outcome{}
	})
}

// play makes some steps and leaves nothing behind.
func (c *client) play(rounds int) {
	for range rounds {
		if !c.p.Requested() {
			c.request()
		}
		if c.rng.IntN(3) == 0 {
			id := c.now
			// The granting goroutine calls this. porcupine accepts a call by any
			// client.
			if err := c.p.Notify(func() { c.note(c.n, deed{what: "told", id: id}, func() outcome { return outcome{} }) }); !errors.Is(err, ErrNotified) {
				c.fine(err)
			}
		}
		if c.rng.IntN(3) == 0 {
			c.note(c.n, deed{what: "test", id: c.now}, func() outcome { return outcome{yes: c.p.Granted()} })
		}
		switch c.rng.IntN(4) {
		case 0:
			c.cancel()
			continue
		case 1:
			ctx, cancel := context.WithCancel(context.Background())
			yields := c.rng.IntN(30)
			go func() {
				for range yields {
					runtime.Gosched()
				}
				cancel()
			}()
			if !c.acquire(ctx) {
				continue
			}
		default:
			c.acquire(context.Background())
		}
		runtime.Gosched()
		c.leave([]string{"release", "renew"}[c.rng.IntN(2)])
	}
	if c.p.Requested() {
		c.cancel()
	}
}

// TestHistoriesAreLinear records the operations of goroutines with places of one
// resource.
func TestHistoriesAreLinear(t *testing.T) {
	for game := range 150 {
		seed := rand.Uint64()
		r := newResource(t, 8)
		if invariant.Enabled {
			r.probe = yielder{}
		}
		var c clerk
		var all sync.WaitGroup
		for n := range 2 + game%5 {
			one := &client{clerk: &c, t: t, n: n, r: r, rng: rand.New(rand.NewPCG(seed, uint64(n)))}
			all.Go(func() { one.play(8) })
		}
		all.Wait()
		if q, c := r.requested.Load(), r.completed.Load(); q != c {
			t.Fatalf("%#x requested, %#x completed", q, c)
		}
		if n := r.waiting(); n != 0 {
			t.Fatalf("%d still wait", n)
		}
		if got := porcupine.CheckOperationsTimeout(linear, c.done, 20*time.Second); got != porcupine.Ok || t.Failed() {
			slices.SortFunc(c.done, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
			for _, op := range c.done {
				t.Logf("%d: %d-%d %s", op.ClientId, op.Call, op.Return, linear.DescribeOperation(op.Input, op.Output))
			}
			t.Fatalf("game %d: the history is %s", game, got)
		}
	}
}

// The model refuses histories that no correct resource produces.
func TestModelRefuses(t *testing.T) {
	req := func(id ID, m Mode) porcupine.Operation {
		return porcupine.Operation{Input: deed{what: "request", id: id, mode: m}, Output: outcome{}}
	}
	acq := func(id ID, m Mode, read, fence, versions uint64) porcupine.Operation {
		return porcupine.Operation{Input: deed{what: "acquire", id: id, mode: m}, Output: outcome{true, read, fence, versions}}
	}
	rel := func(id ID, m Mode, write uint64) porcupine.Operation {
		return porcupine.Operation{Input: deed{what: "release", id: id, mode: m, write: write}, Output: outcome{}}
	}
	test := func(id ID, yes bool) porcupine.Operation {
		return porcupine.Operation{Input: deed{what: "test", id: id}, Output: outcome{yes: yes}}
	}
	told := func(id ID) porcupine.Operation {
		return porcupine.Operation{Input: deed{what: "told", id: id}, Output: outcome{}}
	}
	cancel := func(id ID) porcupine.Operation {
		return porcupine.Operation{Input: deed{what: "cancel", id: id}, Output: outcome{}}
	}
	type ops = []porcupine.Operation
	for name, c := range map[string]struct {
		ops  ops
		want bool
	}{
		"turns":                  {ops{req(1, Write), req(2, Read), acq(1, Write, 0, 1, 0), test(2, false), rel(1, Write, 7), told(2), test(2, true), acq(2, Read, 7, 1, 1)}, true},
		"cancelled in between":   {ops{req(1, Read), req(2, Write), req(3, Read), cancel(2), acq(3, Read, 0, 0, 0), told(2)}, true},
		"two writers":            {ops{req(1, Write), req(2, Write), acq(1, Write, 0, 1, 0), acq(2, Write, 0, 2, 0)}, false},
		"a reader overtakes":     {ops{req(1, Read), req(2, Write), req(3, Read), acq(1, Read, 0, 0, 0), acq(3, Read, 0, 0, 0)}, false},
		"out of order":           {ops{req(1, Write), req(2, Write), acq(2, Write, 0, 1, 0), rel(2, Write, 2), acq(1, Write, 2, 2, 1)}, false},
		"a lost write":           {ops{req(1, Write), acq(1, Write, 0, 1, 0), rel(1, Write, 7), req(2, Read), acq(2, Read, 0, 1, 1)}, false},
		"a fence twice":          {ops{req(1, Write), acq(1, Write, 0, 1, 0), rel(1, Write, 7), req(2, Write), acq(2, Write, 7, 1, 1)}, false},
		"a version skipped":      {ops{req(1, Write), acq(1, Write, 0, 1, 0), rel(1, Write, 7), req(2, Read), acq(2, Read, 7, 1, 2)}, false},
		"tests early":            {ops{req(1, Write), req(2, Write), test(2, true)}, false},
		"told early":             {ops{req(1, Write), req(2, Write), told(2)}, false},
		"cancels without asking": {ops{cancel(1)}, false},
	} {
		for i := range c.ops {
			c.ops[i].Call, c.ops[i].Return = int64(2*i), int64(2*i+1)
		}
		if got := porcupine.CheckOperations(linear, c.ops); got != c.want {
			t.Errorf("%s: linear: %t, want %t", name, got, c.want)
		}
	}
}
