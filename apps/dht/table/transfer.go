package table

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/net/wire"
)

// transfer carries ops to a node, and their results back, one message at a time. Ops that come
// meanwhile wait until that load is back, and go together: with more callers, a message costs each of
// them less. Two messages at a time were slower with many callers, and no faster with few.
//
// No other lock is taken while mu is held. Ops wait only while a load is under way.
type transfer struct {
	exchange *exchange
	node     int

	mu      sync.Mutex
	away    bool
	waiting []*load // the loads that wait, in their order; new ops go to the last
	spare   []byte  // memory of a load that is back
}

// load is a message of ops.
type load struct {
	call
	transfer  *transfer
	ops       int
	body      []byte
	held      int         // bytes of Options.Memory
	questions []*question // the questions that the ops are of, in their order
	at        int         // the question that the next result is for
}

// question is the ops of one Do for one node, so many at a time as a message holds.
type question struct {
	*transfer
	b    *batch
	all  byteOps
	done chan struct{} // has room for one: all ops of the message have results, or err says why not
	must bool          // an op writes: none may be asked again
	end  int32         // the first op that the message does not hold, -1 if none
	ops  int           // the number of ops in the message
	size int           // their bytes in the message, at most

	mu    sync.Mutex
	next  int32 // the first op that has no result
	left  int   // ops of the message without one
	err   error
	later bool // an op was put off
	over  bool // no caller waits: ops and results have another owner now
}

// ask sends the next ops.
func (q *question) ask() {
	q.ops, q.size = 0, 0
	i := q.next
	for ; i >= 0 && q.ops < mostOps; i = q.b.next[i] {
		n := q.all.length(i)
		if q.ops > 0 && q.size+n > mostMessage {
			break
		}
		q.ops, q.size = q.ops+1, q.size+n
	}
	q.end, q.left = i, q.ops
	if !q.exchange.memory.Hold(q.size) {
		q.fail(errMemory)
		return
	}
	q.carry(q)
}

// carry lets the ops of a question go to the node.
func (f *transfer) carry(q *question) {
	f.mu.Lock()
	l := f.loading(q)
	l.questions = append(l.questions, q)
	l.ops += q.ops
	l.held += q.size
	l.body = slices.Grow(l.body, q.size)
	for i := q.next; i != q.end; i = q.b.next[i] {
		l.body = q.all.encode(i, l.body)
	}
	leaves := !f.away
	if leaves {
		f.away, f.waiting = true, slices.Delete(f.waiting, 0, 1)
	}
	f.mu.Unlock()
	if leaves {
		l.leave()
	}
}

// loading is a load that has room for a question.
func (f *transfer) loading(q *question) *load {
	if n := len(f.waiting); n > 0 {
		if l := f.waiting[n-1]; l.ops+q.ops <= mostOps && len(l.body)+q.size <= mostMessage {
			return l
		}
	}
	l := &load{transfer: f, body: f.spare}
	l.node, l.take, l.ended = f.node, l.results, l.back
	f.spare = nil
	f.waiting = append(f.waiting, l)
	return l
}

func (l *load) leave() { l.transfer.exchange.ask(&l.call, askOps, l.ops, l.body) }

// results takes results of an answer.
func (l *load) results(count int, from *wire.Reader) error {
	for count > 0 {
		if l.at == len(l.questions) {
			return fmt.Errorf("%w: more results than ops", errMalformed)
		}
		taken, all, err := l.questions[l.at].results(count, from)
		if err != nil {
			return err
		}
		if count -= taken; all {
			l.at++
		}
	}
	return nil
}

// back is the end of the load: all answers came, or none will come any more. The next
// one leaves.
func (l *load) back(err error) {
	f := l.transfer
	var next *load
	f.mu.Lock()
	if err == nil && cap(l.body) <= mostKeptBody {
		f.spare = l.body[:0] // a failed caller may still be leaving
	}
	if f.away = len(f.waiting) > 0; f.away {
		next = f.waiting[0]
		f.waiting = slices.Delete(f.waiting, 0, 1)
	}
	f.mu.Unlock()
	f.exchange.memory.Drop(l.held)
	if next != nil {
		next.leave()
	}
	for _, q := range l.questions[l.at:] {
		if err == nil {
			err = fmt.Errorf("%w: fewer results than ops", errMalformed)
		}
		q.fail(err)
	}
}

// results takes results of the question, of count that there are, and says how many, and
// whether it has them all.
func (q *question) results(count int, from *wire.Reader) (taken int, all bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ; count > 0 && q.left > 0; count-- {
		switch {
		case q.over:
			err = q.all.skip(from)
		case q.later && !q.must: // the ops behind it keep their order
			err = q.all.skip(from)
			q.all.fail(q.next, ErrLater)
			q.next = q.b.next[q.next]
		default:
			if err = q.all.parse(q.next, from, q.must); err == nil {
				q.later = q.later || q.all.later(q.next)
				q.next = q.b.next[q.next]
			}
		}
		if err != nil {
			return taken, false, err
		}
		taken++
		q.left--
	}
	if all = q.left == 0; all {
		q.done <- struct{}{} // from now on, the question may be another one
	}
	return taken, all, nil
}

func (q *question) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
	q.done <- struct{}{}
}

// wait returns when all ops of the message have results, or with the reason why not.
func (q *question) wait(ctx context.Context) error {
	select {
	case <-q.done:
		return q.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.left == 0 || q.err != nil {
		<-q.done // a moment ago
		return q.err
	}
	q.over = true
	return context.Cause(ctx)
}

// afar asks the nodes that ops of a batch are for.
func (t *Strings) afar(ctx context.Context, b *batch, all byteOps) {
	for _, g := range b.touched {
		if int(g) < len(t.homes) {
			continue
		}
		if ctx.Err() != nil {
			for i := range b.each(int(g)) {
				all.fail(int32(i), context.Cause(ctx))
			}
			continue
		}
		q := b.question()
		q.transfer, q.all, q.next, q.must = t.others.transfers[int(g)-len(t.homes)], all, b.groups[g].head, b.groups[g].writes
		q.ask()
	}
}

// await waits for all answers, and asks what did not fit into one message.
func (t *Strings) await(ctx context.Context, b *batch) {
	for _, q := range b.questions {
		err := q.wait(ctx)
		for err == nil && q.end >= 0 {
			if q.later { // the ops behind it keep their order
				err = ErrLater
				break
			}
			q.ask()
			err = q.wait(ctx)
		}
		for i := q.next; err != nil && i >= 0; i = b.next[i] {
			q.all.fail(i, err)
		}
	}
}
