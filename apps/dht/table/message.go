package table

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/wire"
)

// Nodes talk in msgpack, as in the rest of a run:
//
//	header   array of 4: what it is, the number of the question, how many elements of the
//	         answer came before, how many elements this has
//	body     the elements
//
//	ask ops      ops              answer   results, in the order of the ops
//	ask scan     see scan.go      answer   of one or several messages, all but the last
//	ask length   none                      marked as parts
//	ask clear    none
//	ask volumes  none             answer   volumes, see scan.go
//	gone         none: the table was closed on the node
type message uint64

const (
	askOps message = iota + 1
	askScan
	askLength
	askClear
	askVolumes
	part
	answer
	gone
	messageEnd
)

// The most that one message holds. A larger Do goes in several, an answer too; but
// what is larger alone goes alone.
const (
	mostMessage = 4 << 20
	mostOps     = 1 << 14
)

// errMalformed is a message that no table sends.
var errMalformed = errors.New("table: malformed message")

// head is the header of a message.
type head struct {
	what   message
	number uint64
	first  int
	count  int
}

const longestHead = 1 + 4*9

func (h head) encode(b []byte) []byte {
	b = wire.AppendUint(wire.AppendArray(b, 4), uint64(h.what))
	b = wire.AppendUint(wire.AppendUint(b, h.number), uint64(h.first))
	return wire.AppendUint(b, uint64(h.count))
}

// parseHead reads the header of a message with a body of so many bytes: no element is
// less than one.
func parseHead(b []byte, body int) (head, error) {
	r := wire.NewReader(b)
	if n := r.Array(); n != 4 && r.Err() == nil {
		return head{}, fmt.Errorf("%w: header of %d fields", errMalformed, n)
	}
	h := head{what: message(r.UintTo(uint64(messageEnd - 1))), number: r.Uint(), first: int(r.UintTo(mostOps))}
	if h.what < part {
		body = min(body, mostOps)
	}
	h.count = int(r.UintTo(uint64(body)))
	if err := r.Done(); err != nil {
		return head{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	if h.what == 0 {
		return head{}, fmt.Errorf("%w: of no kind", errMalformed)
	}
	return h, nil
}

// An op begins with a number:
//
//	 7     6      5 4   3 .... 0
//	old │ keep │ if │ kind         of an Expire: sooner │ later │ if │ kind
//
// Then come the key, and what the kind needs.
const (
	opIf     = 1 << 4
	opKeep   = 1 << 6
	opOld    = 1 << 7
	opLater  = opKeep
	opSooner = opOld
)

// encode appends the op.
func (o *Op) encode(b []byte) []byte {
	flags := uint64(o.Kind) | uint64(o.If)*opIf | when(o.Keep, opKeep) | when(o.Old, opOld) | when(o.Later, opLater) | when(o.Sooner, opSooner)
	b = wire.AppendBytes(wire.AppendUint(b, flags), o.Key)
	switch o.Kind {
	case Set:
		b = wire.AppendUint(wire.AppendBytes(b, o.Value), uint64(o.Expires))
		if o.If == Equal {
			b = wire.AppendBytes(b, o.Compare)
		}
	case Append:
		b = wire.AppendBytes(b, o.Value)
	case Add:
		b = wire.AppendUint(b, zigzag(o.Number))
	case Expire:
		b = wire.AppendUint(b, uint64(o.Expires))
	}
	return b
}

// parse reads an op, whose bytes stay where they are.
func (o *Op) parse(r *wire.Reader) error {
	flags := r.UintTo(1<<8 - 1)
	*o = Op{
		Kind: Kind(flags & 15), If: Condition(flags / opIf & 3), Key: r.Bytes(),
	}
	if o.Kind == Expire {
		o.Later, o.Sooner = flags&opLater != 0, flags&opSooner != 0
	} else {
		o.Keep, o.Old = flags&opKeep != 0, flags&opOld != 0
	}
	switch o.Kind {
	case Set:
		o.Value, o.Expires = r.Bytes(), int64(r.Uint())
		if o.If == Equal {
			o.Compare = r.Bytes()
		}
	case Append:
		o.Value = r.Bytes()
	case Add:
		o.Number = unzigzag(r.Uint())
	case Expire:
		o.Expires = int64(r.Uint())
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	if err := o.check(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

// A result begins with a number that says what it is and what follows.
const (
	resultFound = 1 << iota
	resultDone
	resultValue
	resultNumber
	resultExpires
	resultError
	resultEnd
)

// encode appends the result.
func (r *Result) encode(b []byte) []byte {
	flags := when(r.Found, resultFound) | when(r.Done, resultDone) | when(len(r.Value) > 0, resultValue) |
		when(r.Number != 0, resultNumber) | when(r.Expires != 0, resultExpires) | when(r.Err != nil, resultError)
	b = wire.AppendUint(b, flags)
	if flags&resultValue != 0 {
		b = wire.AppendBytes(b, r.Value)
	}
	if flags&resultNumber != 0 {
		b = wire.AppendUint(b, zigzag(r.Number))
	}
	if flags&resultExpires != 0 {
		b = wire.AppendUint(b, uint64(r.Expires))
	}
	if flags&resultError != 0 {
		b = appendError(b, r.Err)
	}
	return b
}

// parse reads a result, and appends its value to what there is. If there is no room for the value, the result is
// ErrLater; but a value that must be told gets its room beyond the limit.
func (r *Result) parse(from *wire.Reader, by *Options, must bool) error {
	flags := from.UintTo(resultEnd - 1)
	r.Found, r.Done = flags&resultFound != 0, flags&resultDone != 0
	if flags&resultValue != 0 {
		value := from.Bytes()
		if must {
			r.mustTell(value, by)
		} else if !r.tell(value, by, nil) {
			defer r.later() // behind the rest
		}
	}
	if flags&resultNumber != 0 {
		r.Number = unzigzag(from.Uint())
	}
	if flags&resultExpires != 0 {
		r.Expires = int64(from.Uint())
	}
	if flags&resultError != 0 {
		r.Err = parseError(from)
	}
	if err := from.Err(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

func when(set bool, bit uint64) uint64 {
	if set {
		return bit
	}
	return 0
}

// zigzag is a number as an unsigned one, small if it is.
func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// told are the errors that a node can tell of, by their number less one.
var told = [...]error{ErrFull, ErrTooLong, ErrNotInteger, ErrOverflow, ErrOp, ErrLater}

// remoteError is an error as another node has told it.
type remoteError struct {
	text string
	is   error // one of told, or nil
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() error { return e.is }

// mostText is how much of an error is told.
const mostText = 1 << 10

func appendError(b []byte, err error) []byte {
	number := uint64(0)
	for i, is := range told {
		if errors.Is(err, is) {
			number = uint64(i + 1)
		}
	}
	text := err.Error()
	return wire.AppendString(wire.AppendUint(b, number), text[:min(len(text), mostText)])
}

func parseError(r *wire.Reader) error {
	number := r.UintTo(uint64(len(told)))
	e := &remoteError{text: r.String()}
	if number > 0 {
		e.is = told[number-1]
		if e.text == e.is.Error() {
			return e.is
		}
	}
	return e
}

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
