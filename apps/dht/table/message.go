package table

import (
	"errors"
	"fmt"

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
