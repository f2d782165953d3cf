package table

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/wire"
)

// byteOps are the ops of one Do, and their results, by their index.
type byteOps struct {
	ops     []Op
	results []Result
	by      *Options
}

// length is about how long the op is in a message, and not less.
func (a byteOps) length(i int32) int {
	o := &a.ops[i]
	return len(o.Key) + len(o.Value) + len(o.Compare) + 32
}

func (a byteOps) encode(i int32, b []byte) []byte { return a.ops[i].encode(b) }

// parse reads a result, which must not be put off if must is set.
func (a byteOps) parse(i int32, from *wire.Reader, must bool) error {
	return a.results[i].parse(from, a.by, must)
}

// skip reads a result that has no reader any more.
func (a byteOps) skip(from *wire.Reader) error {
	var r Result
	return r.parse(from, new(Options), false)
}

// later reports whether the op was put off.
func (a byteOps) later(i int32) bool { return a.results[i].Err == ErrLater }

// fail makes the result an error.
func (a byteOps) fail(i int32, err error) {
	a.results[i] = Result{Value: a.results[i].Value, Err: err}
}

// service is what serves one question: memory that is used again.
type service struct {
	ops     []Op
	results []Result
	body    []byte
}

var services = sync.Pool{New: func() any { return new(service) }}

// How long a value, and a body, is whose memory is kept.
const (
	mostKeptValue = LongValue
	mostKeptBody  = 1 << 20
)

// clear makes the service one that refers to nothing.
func (s *service) clear() {
	clear(s.ops)
	for i := range s.results {
		v := s.results[i].Value
		if cap(v) > mostKeptValue {
			v = nil
		}
		s.results[i] = Result{Value: v[:0]}
	}
	s.ops, s.body = s.ops[:0], s.body[:0]
	if cap(s.body) > mostKeptBody {
		s.body = nil
	}
	if cap(s.ops) > mostKeptOps {
		s.ops, s.results = nil, nil
	}
}

// serve does what another node asks.
func (t *Strings) serve(from int, h head, body *wire.Reader) error {
	s := services.Get().(*service)
	defer func() {
		s.clear()
		services.Put(s)
	}()
	switch h.what {
	case askOps:
		return t.serveOps(s, from, h, body)
	case askScan:
		return t.serveScan(s, from, h, body)
	case askVolumes:
		return t.serveVolumes(s, from, h, body)
	}
	return t.serveAll(from, h, body)
}

// serveOps does ops that another node asks for.
func (t *Strings) serveOps(s *service, from int, h head, body *wire.Reader) error {
	b := t.batches.Get().(*batch)
	defer func() {
		b.clear()
		t.batches.Put(b)
	}()
	for i := range h.count {
		s.ops = append(s.ops, Op{})
		o := &s.ops[i]
		if err := o.parse(body); err != nil {
			return err
		}
		hash := t.o.Hash(o.Key)
		v := volumeOf(hash, len(t.homes))
		if t.volumes[v] == nil {
			return fmt.Errorf("%w: key %.40q is kept by node %d", errMalformed, o.Key, t.homes[v])
		}
		b.add(i, v, hash, o.writes())
	}
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	for len(s.results) < len(s.ops) {
		s.results = append(s.results, Result{})
	}
	t.near(context.Background(), b, s.ops, s.results)
	count := 0
	for i := range s.ops {
		if len(s.body) > 0 && len(s.body)+len(s.results[i].Value) > mostMessage {
			t.others.reply(from, head{part, h.number, i - count, count}, s.body)
			s.body, count = s.body[:0], 0
		}
		s.body = s.results[i].encode(s.body)
		if v := &s.results[i].Value; cap(*v) > LongValue {
			t.o.Memory.Give(*v)
			*v = nil
		}
		count++
	}
	t.others.reply(from, head{answer, h.number, len(s.ops) - count, count}, s.body)
	return nil
}

// everywhere has all nodes do the same, and adds up what they answer.
func (t *Strings) everywhere(ctx context.Context, what message, here func(context.Context) (int64, error)) (sum int64, err error) {
	var calls []*call
	var answers []Result
	if t.others != nil {
		answers = make([]Result, t.others.nodes)
		for node := range answers {
			if node == t.node {
				continue
			}
			c := &call{node: node, take: func(count int, from *wire.Reader) error {
				if count != 1 {
					return fmt.Errorf("%w: %d answers", errMalformed, count)
				}
				return answers[node].parse(from, new(Options), false)
			}}
			t.others.ask(c, what, 0, nil)
			calls = append(calls, c)
		}
	}
	sum, err = here(ctx)
	for _, c := range calls {
		if lost := t.others.wait(ctx, c); lost != nil && err == nil {
			err = lost
		}
	}
	for _, a := range answers {
		if sum += a.Number; err == nil {
			err = a.Err
		}
	}
	return sum, err
}

// serveAll answers what everywhere asks.
func (t *Strings) serveAll(from int, h head, body *wire.Reader) error {
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	var r Result
	if h.what == askLength {
		r.Number, r.Err = t.lengthHere(context.Background())
	} else {
		r.Number, r.Err = t.clearHere(context.Background())
	}
	t.others.reply(from, head{answer, h.number, 0, 1}, r.encode(nil))
	return nil
}
