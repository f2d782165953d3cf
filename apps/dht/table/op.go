package table

import (
	"errors"
	"fmt"
)

// Kind is what an Op does.
type Kind uint8

// The kinds. Beside each stands what its Result says.
const (
	// Get is to know a value: Value, Found, Expires.
	Get Kind = iota + 1
	// Set gives a key a value, if Op.If holds. Op.Keep keeps the old expiry. Done says
	// whether it was set; with Op.Old, Value and Found are what was there before.
	Set
	// Delete takes a key away: Found.
	Delete
	// Add adds Op.Number to the decimal integer that the value is, 0 if there is none,
	// and keeps the expiry: Number is the sum. ErrNotInteger, ErrOverflow.
	Add
	// Append appends Op.Value to the value, and keeps the expiry: Number is the length
	// after it.
	Append
	// Length is how long the value is: Number, 0 if there is none; Found.
	Length
	// Expire sets when the key expires, 0 for never, if Op.If, Op.Later and Op.Sooner hold:
	// Found, Done; Expires is what it was before. With a moment that has passed the key is
	// absent from now on.
	Expire
	// Exists is to know of a key: Found, Expires.
	Exists

	kindEnd
)

// Condition is when a Set sets, and when an Expire does.
type Condition uint8

// The conditions.
const (
	// Always is no condition.
	Always Condition = iota
	// Absent is that there is no such key. For Expire: the key never expires.
	Absent
	// Present is that there is. For Expire: the key expires.
	Present
	// Equal is that there is, and that its value is Op.Compare. Only for Set.
	Equal

	conditionEnd
)

// Op is something to do with one key, atomically.
type Op struct {
	Kind    Kind
	If      Condition // of a Set or an Expire
	Keep    bool      // of a Set: the old expiry
	Old     bool      // of a Set: the old value is asked for
	Later   bool      // of an Expire: only if the key lives longer by it
	Sooner  bool      // of an Expire: only if the key expires earlier by it
	Key     []byte
	Value   []byte
	Compare []byte // the value that Equal compares with
	Number  int64
	Expires int64 // Unix milliseconds, 0 never
	// Peek, if not nil, is called with the value of a Get where it lies, if this node has the key. It says how many
	// bytes the caller has used up: Result.Value gets those behind. Peek must not wait, nor keep the value.
	Peek func(value []byte) (used int)
}

// allows reports whether the conditions of an Expire hold for a key that expires at a time.
func (o *Op) allows(expires int64) bool {
	switch {
	case o.If == Absent && expires != 0, o.If == Present && expires == 0:
		return false
	case o.Later && !later(o.Expires, expires), o.Sooner && !later(expires, o.Expires):
		return false
	}
	return true
}

// later reports whether a is later than b. Never, which is 0, is later than all times.
func later(a, b int64) bool { return b != 0 && (a == 0 || a > b) }

// writes reports whether the op may change something.
func (o *Op) writes() bool {
	switch o.Kind {
	case Get, Length, Exists:
		return false
	}
	return true
}

// tells reports whether the result may have a value.
func (o *Op) tells() bool { return o.Kind == Get || o.Old }

// Result is what became of an Op.
type Result struct {
	// Value is appended to what Value was, so that the caller's buffer is used again:
	// give buffer[:0]. The rest is set anew. A value that does not fit there, and that is longer
	// than LongValue, lies in a buffer of Options.Memory.
	Value   []byte
	Number  int64
	Expires int64 // Unix milliseconds, 0 never
	Found   bool
	Done    bool
	// Err concerns this op alone. The op has changed nothing then, unless Err is a
	// *NodeLostError or a context's: then it may have been done.
	Err error
}

// The errors of an op.
var (
	// ErrFull says that a volume has no room for the value.
	ErrFull = errors.New("table: volume is full: delete something, or give Options.Most more")
	// ErrTooLong is a key or a value that no volume takes.
	ErrTooLong = errors.New("table: key or value is too long")
	// ErrNotInteger is an Add to a value that is no decimal integer of 64 bits.
	ErrNotInteger = errors.New("table: value is not an integer of 64 bits")
	// ErrOverflow is an Add whose sum is no integer of 64 bits.
	ErrOverflow = errors.New("table: sum is not an integer of 64 bits")
	// ErrLater is an op that was not done, since other values of the same Do are long, or there is no room
	// for this one now: read them, give them back, and ask again. Ops on its key behind it are ErrLater, too. Only with
	// Options.Memory. A single op is ErrLater if there is no room for its value alone.
	ErrLater = errors.New("table: no room for the value now: ask again later")
	// ErrOp is an op that does not exist.
	ErrOp = errors.New("table: no such op: make it of the constants of Kind and Condition, with what these allow, and an expiry of 0 or later")
	// ErrClosed is the use of a table that was closed.
	ErrClosed = errors.New("table: closed")
)

// NodeLostError says that the node of the key is lost. A write may or may not have been done
// before.
type NodeLostError struct {
	Node int
	Why  error
}

func (e *NodeLostError) Error() string {
	return fmt.Sprintf("table: node %d, which has the key, is lost: %v", e.Node, e.Why)
}

// Unwrap is why.
func (e *NodeLostError) Unwrap() error { return e.Why }
