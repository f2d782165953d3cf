package table

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/wire"
)

// NumberOp is something to do with one key of numbers, atomically: a Get, Set, Delete or
// Add.
type NumberOp struct {
	Kind    Kind
	If      Condition // of a Set
	Key     uint64
	Value   uint64 // the value that a Set gives, or that an Add adds
	Compare uint64 // the value that Equal compares with
}

// NumberResult is what became of a NumberOp.
type NumberResult struct {
	// Value is the value of a Get, or the sum of an Add.
	Value uint64
	// Found says that the key was there before; Done that a Set has set.
	Found, Done bool
	// Err concerns this op alone. The op has changed nothing then, unless Err is a
	// *NodeLostError or a context's: then it may have been done.
	Err error
}

// check is what is wrong with an op, if anything.
func (o *NumberOp) check() error {
	switch o.Kind {
	case Get, Set, Delete, Add:
		if o.If < conditionEnd {
			return nil
		}
	}
	return ErrOp
}

// change does the op in a volume that the caller is alone in. It reports false if the volume
// has no room; then nothing has changed. Hash is the key's.
func (o *NumberOp) change(v *NumbersVolume, hash uint64, r *NumberResult) bool {
	s, found := v.find(o.Key, hash)
	value := o.Value
	r.Found = found
	switch o.Kind {
	case Get:
		if found {
			r.Value = *v.value(s)
		}
		return true
	case Delete:
		if found {
			v.remove(s)
		}
		return true
	case Add:
		if found {
			value += *v.value(s)
		}
		r.Value = value
	case Set:
		if o.If == Absent && found || o.If == Present && !found || o.If == Equal && (!found || *v.value(s) != o.Compare) {
			return true
		}
		r.Done = true
	}
	if found {
		*v.value(s) = value
		return true
	}
	return v.add(s.bucket, s.line, o.Key, value)
}

// numberOps are the ops of a Do.
type numberOps struct {
	ops     []NumberOp
	results []NumberResult
}

func (a numberOps) length(int32) int { return 32 }

// encode appends a number for kind and condition, as byte strings have it, the key, and what
// the kind needs.
func (a numberOps) encode(i int32, b []byte) []byte {
	o := &a.ops[i]
	b = wire.AppendUint(wire.AppendUint(b, uint64(o.Kind)|uint64(o.If)*opIf), o.Key)
	if o.Kind == Set || o.Kind == Add {
		b = wire.AppendUint(b, o.Value)
	}
	if o.Kind == Set && o.If == Equal {
		b = wire.AppendUint(b, o.Compare)
	}
	return b
}

// parse reads an op.
func (o *NumberOp) parse(r *wire.Reader) error {
	flags := r.UintTo(opKeep - 1)
	*o = NumberOp{Kind: Kind(flags & 15), If: Condition(flags / opIf), Key: r.Uint()}
	if o.Kind == Set || o.Kind == Add {
		o.Value = r.Uint()
	}
	if o.Kind == Set && o.If == Equal {
		o.Compare = r.Uint()
	}
	err := r.Err()
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

// encode appends the result: a number that says what it is and what follows, as byte strings
// have it.
func (r *NumberResult) encode(b []byte) []byte {
	b = wire.AppendUint(b, when(r.Found, resultFound)|when(r.Done, resultDone)|
		when(r.Value != 0, resultNumber)|when(r.Err != nil, resultError))
	if r.Value != 0 {
		b = wire.AppendUint(b, r.Value)
	}
	if r.Err != nil {
		b = appendError(b, r.Err)
	}
	return b
}

func (a numberOps) parse(i int32, from *wire.Reader, _ bool) error { return a.results[i].parse(from) }

func (a numberOps) later(int32) bool { return false }

func (a numberOps) skip(from *wire.Reader) error {
	var r NumberResult
	return r.parse(from)
}

// parse reads a result.
func (r *NumberResult) parse(from *wire.Reader) error {
	flags := from.UintTo(resultEnd - 1)
	r.Found, r.Done = flags&resultFound != 0, flags&resultDone != 0
	if flags&resultNumber != 0 {
		r.Value = from.Uint()
	}
	if flags&resultError != 0 {
		r.Err = parseError(from)
	}
	if err := from.Err(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

func (a numberOps) fail(i int32, err error) { a.results[i] = NumberResult{Err: err} }

// numberService is what serves one question: memory that is used again.
type numberService struct {
	numberOps
	body []byte
}

var numberServices = sync.Pool{New: func() any { return new(numberService) }}

// serveOps does ops that another node asks for.
func (t *Numbers) serveOps(from int, h head, body *wire.Reader) error {
	s := numberServices.Get().(*numberService)
	b := t.batches.Get().(*batch)
	defer func() {
		s.ops, s.results, s.body = s.ops[:0], s.results[:0], s.body[:0]
		numberServices.Put(s)
		b.clear()
		t.batches.Put(b)
	}()
	for i := range h.count {
		var o NumberOp
		if err := o.parse(body); err != nil {
			return err
		}
		hash := t.spread(o.Key)
		v := volumeOf(hash, len(t.here))
		if t.here[v] == nil {
			return fmt.Errorf("%w: key %d is kept by node %d", errMalformed, o.Key, t.homes[v])
		}
		s.ops, s.results = append(s.ops, o), append(s.results, NumberResult{})
		b.add(i, v, hash, o.Kind != Get)
	}
	if err := body.Done(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	t.near(context.Background(), b, s.ops, s.results)
	for i := range s.results {
		s.body = s.results[i].encode(s.body)
	}
	t.others.reply(from, head{answer, h.number, 0, len(s.results)}, s.body)
	return nil
}
