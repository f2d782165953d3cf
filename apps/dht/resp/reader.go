package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/orwl/go-orwl/apps/dht/budget"
)

// protocolError is why a connection cannot go on: the server cannot tell where the next command
// begins.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// The limits that Redis has, too.
const (
	mostArgs         = 1 << 20  // strings of a command
	mostInline       = 64 << 10 // bytes of an inline command
	strangersArgs    = 10       // strings of a command that comes before the password
	strangersBulk    = 16 << 10
	mostDigits       = 20 // of a number with its sign
	leastBuffer      = 4 << 10
	pipelineBuffer   = 64 << 10 // the buffer of a client that sends as much as fits in
	missing          = -1
	argsKeptAtRest   = 1 << 10
	argBytes         = 40 // the memory of a string beside its bytes: a span, and a slice of args
	longestKnown     = 32 // the beginning of a command whose rest is not kept
	protoBulk        = protocolError("invalid bulk length")
	protoMultibulk   = protocolError("invalid multibulk length")
	protoInline      = protocolError("too big inline request")
	protoQuotes      = protocolError("unbalanced quotes in request")
	strangersTooMany = protocolError("unauthenticated multibulk length")
	strangersTooLong = protocolError("unauthenticated bulk length")
)

// limits are what a reader lets a client ask for.
type limits struct {
	bulk, request int
	stranger      bool // has not given the password
}

// reader cuts what comes into commands. A command may come in any pieces: each byte
// is looked at once.
//
//	buf:  ....|command, complete|command, half|........
//	           start             start+seen    end
//
// Its small buffer is its own. A larger one is the budget's, and goes back there when it is not needed. If the budget
// has no room for a command, the reader drops what comes of it, and goes on behind it.
type reader struct {
	from       io.Reader
	memory     *budget.Budget
	limits     limits
	small, buf []byte // buf may be small
	start, end int

	// The state of the command that begins at start. Places are relative to it, so
	// that the buffer can move.
	seen  int    // how far it was looked at
	left  int    // how many strings it has still to bring
	bulk  int    // the length of the string that seen points at
	spans []span // where the other strings are

	args   [][]byte
	counts int // the args beyond argsKeptAtRest that the budget counts

	// The state of a command that is dropped.
	dropping bool
	skip     int    // bytes to drop, before the next length
	line     bool   // drop up to the end of the line
	dropped  int    // bytes so far
	name     []byte // of the command, as much as was known
}

// errNoRoom is a command that was dropped, since the budget had no room for it. The reader goes on.
var errNoRoom = errors.New("resp: no room for the request")

// span is where a string is.
type span struct{ from, to int }

func newReader(from io.Reader, memory *budget.Budget, l limits) *reader {
	return &reader{from: from, memory: memory, limits: l, bulk: missing}
}

// begun is how much has come of a command that is not complete.
func (r *reader) begun() int { return r.end - r.start + r.dropped }

// close gives all memory back.
func (r *reader) close() {
	r.exchange(nil)
	r.memory.Drop(r.counts * argBytes)
	r.counts = 0
}

// next is the next command that is here completely, or nil. Its strings are valid
// until fill.
func (r *reader) next() ([][]byte, error) {
	if r.dropping {
		over, err := r.drop()
		if err == nil && over {
			err = errNoRoom
		}
		if err != nil || !over {
			return nil, err
		}
	}
	for r.start < r.end {
		if r.seen == 0 && r.buf[r.start] != '*' || r.left == 0 && r.seen > 0 {
			args, complete, err := r.inline()
			if err != nil || !complete || len(args) > 0 {
				return args, err
			}
			continue
		}
		if r.seen == 0 {
			if ok, err := r.header(); !ok {
				return nil, err
			}
			if r.left == 0 {
				r.took()
				continue
			}
		}
		for r.left > 0 {
			if ok, err := r.one(); !ok {
				return nil, err
			}
			if len(r.spans) > argsKeptAtRest+r.counts && r.left > 0 && !r.count() {
				r.giveUp()
				return r.next()
			}
		}
		return r.command(), nil
	}
	return nil, nil
}

// command is the one that is here now.
func (r *reader) command() [][]byte {
	whole := r.buf[r.start : r.start+r.seen]
	for _, s := range r.spans {
		r.args = append(r.args, whole[s.from:s.to:s.to])
	}
	r.took()
	return r.args
}

// took goes on to the next command.
func (r *reader) took() {
	r.start += r.seen
	r.seen, r.left, r.bulk, r.spans = 0, 0, missing, r.spans[:0]
}

// header reads how many strings there are. Redis takes a count below one for an
// empty command, and so does it here.
func (r *reader) header() (bool, error) {
	n, size, ok := r.number()
	if size == 0 {
		return false, r.tooLong(protoMultibulk)
	}
	if !ok || n > mostArgs {
		return false, protoMultibulk
	}
	if r.limits.stranger && n > strangersArgs {
		return false, strangersTooMany
	}
	r.seen, r.left, r.args = size, int(max(n, 0)), r.args[:0]
	return true, nil
}

// one reads a string.
func (r *reader) one() (bool, error) {
	if r.bulk == missing {
		size, err := r.length()
		if size == 0 || err != nil {
			return false, err
		}
		if r.seen += size; r.seen+r.bulk+2 > r.limits.request {
			return false, r.tooLarge()
		}
	}
	rest := r.buf[r.start+r.seen : r.end]
	if len(rest) < r.bulk+2 {
		return false, nil
	}
	if rest[r.bulk] != '\r' || rest[r.bulk+1] != '\n' {
		return false, protoBulk
	}
	r.spans = append(r.spans, span{r.seen, r.seen + r.bulk})
	r.seen, r.left, r.bulk = r.seen+r.bulk+2, r.left-1, missing
	return true, nil
}

// length reads how long the next string is. The size of that line is 0 if it is not complete.
func (r *reader) length() (size int, err error) {
	rest := r.buf[r.start+r.seen : r.end]
	if len(rest) == 0 {
		return 0, nil
	}
	if rest[0] != '$' {
		return 0, protocolError(fmt.Sprintf("expected '$', got '%c'", printable(rest[0])))
	}
	n, size, ok := r.number()
	if size == 0 {
		return 0, r.tooLong(protoBulk)
	}
	if !ok || n < 0 || n > int64(r.limits.bulk) {
		return 0, protoBulk
	}
	if r.limits.stranger && n > strangersBulk {
		return 0, strangersTooLong
	}
	r.bulk = int(n)
	return size, nil
}

func (r *reader) tooLarge() error {
	return protocolError(fmt.Sprintf("request is longer than %d bytes", r.limits.request))
}

// number reads the line at seen, a letter and a number. Its size is 0 if the line is
// not complete.
func (r *reader) number() (n int64, size int, ok bool) {
	line := r.buf[r.start+r.seen : r.end]
	// Nearly all lengths have one digit or two.
	if len(line) > 4 && line[2] == '\r' && line[3] == '\n' && line[1]-'0' < 10 {
		return int64(line[1] - '0'), 4, true
	}
	i := bytes.IndexByte(line[:min(len(line), mostDigits+3)], '\n')
	if i < 0 {
		return 0, 0, false
	}
	if line[i-1] != '\r' || i < 2 {
		return 0, i + 1, false
	}
	n, ok = integer(line[1 : i-1])
	return n, i + 1, ok
}

// integer is the number that text is, as Redis reads it: decimal, with no sign but
// one minus, no leading zero, no space.
func integer(text []byte) (n int64, ok bool) {
	digits, negative := text, false
	if len(text) > 0 && text[0] == '-' {
		digits, negative = text[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(digits) == 1 && !negative
	}
	var magnitude uint64 // 19 digits fit
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		magnitude = magnitude*10 + uint64(d-'0')
	}
	if negative {
		return -int64(magnitude), magnitude <= -math.MinInt64
	}
	return int64(magnitude), magnitude <= math.MaxInt64
}

// tooLong is err if a number does not end where every number does.
func (r *reader) tooLong(err error) error {
	if r.end-r.start-r.seen < mostDigits+3 {
		return nil
	}
	return err
}

// inline reads a command that is a line of words.
func (r *reader) inline() (args [][]byte, complete bool, err error) {
	line := r.buf[r.start:r.end]
	i := bytes.IndexByte(line[r.seen:], '\n')
	if i < 0 {
		if r.seen = len(line); r.seen > mostInline {
			return nil, false, protoInline
		}
		return nil, false, nil
	}
	if line, r.seen = line[:r.seen+i], r.seen+i+1; len(line) > mostInline {
		return nil, false, protoInline
	}
	r.took()
	args, ok := words(r.args[:0], bytes.TrimSuffix(line, []byte("\r")))
	if !ok {
		return nil, false, protoQuotes
	}
	if r.limits.stranger && len(args) > strangersArgs {
		return nil, false, strangersTooMany
	}
	r.args = args
	return args, true, nil
}

// fill waits for more. It invalidates the earlier results of next.
func (r *reader) fill() error {
	r.room()
	n, err := r.from.Read(r.buf[r.end:])
	r.end += n
	if n > 0 {
		return nil // the error comes again
	}
	return err
}

// room makes room to read into, for what has come and as much again: a length that a client only says
// costs nothing. While clients take little of the budget, it makes room for the whole string at once.
func (r *reader) room() {
	full := r.end == len(r.buf)
	held := r.end - r.start
	if held == 0 {
		r.start, r.end = 0, 0
	}
	if r.counts > 0 && r.left == 0 {
		r.memory.Drop(r.counts * argBytes)
		r.counts = 0
	}
	if cap(r.args) > argsKeptAtRest && r.left == 0 {
		r.args, r.spans = nil, nil
	}
	size := len(r.buf)
	known := 0 // the bytes that the command needs for certain
	if r.bulk > leastBuffer && !r.dropping && r.memory != nil && r.memory.Calm() {
		known = r.seen + r.bulk + len("\r\n")
	}
	switch {
	case known > size:
		size = known
	case held == size:
		size = max(leastBuffer, min(2*size, r.limits.request+pipelineBuffer))
	case full && size < pipelineBuffer:
		size *= 2
	case held <= leastBuffer/2 && known <= leastBuffer && (size > pipelineBuffer || size > leastBuffer && !r.memory.Calm()):
		size = leastBuffer
	case held <= pipelineBuffer/2 && known <= pipelineBuffer && size > pipelineBuffer:
		size = pipelineBuffer
	}
	if size == len(r.buf) || r.resize(size) || held < len(r.buf) {
		copy(r.buf, r.buf[r.start:r.end])
		r.start, r.end = 0, held
		return
	}
	r.giveUp()
	r.sink()
	held = copy(r.buf, r.buf[r.start:r.end]) // a length that is not complete
	r.start, r.end = 0, held
}

// resize moves what is held into a buffer of at least so many bytes, and reports whether it could.
func (r *reader) resize(size int) bool {
	var b []byte
	if size <= leastBuffer {
		if r.small == nil {
			r.small = make([]byte, leastBuffer)
		}
		b = r.small
	} else if b = r.memory.Take(size); b == nil {
		return false
	}
	r.exchange(b)
	return true
}

// exchange moves what is held into another buffer.
func (r *reader) exchange(b []byte) {
	held := copy(b, r.buf[r.start:r.end])
	if len(r.buf) > leastBuffer {
		r.memory.Give(r.buf)
	}
	r.buf, r.start, r.end = b, 0, held
}

// count tells the budget of more strings of a command, and reports whether there is room for them.
func (r *reader) count() bool {
	more := max(argsKeptAtRest, r.counts)
	if !r.memory.Hold(more * argBytes) {
		return false
	}
	r.counts += more
	return true
}

// giveUp begins to drop the command that begins at start.
func (r *reader) giveUp() {
	r.name = r.name[:0]
	if len(r.spans) > 0 {
		s := r.spans[0]
		r.name = append(r.name, r.buf[r.start+s.from:r.start+min(s.to, s.from+longestKnown)]...)
	}
	r.dropping, r.line, r.skip, r.dropped = true, r.left == 0, 0, r.seen
	if r.bulk != missing {
		r.skip = r.bulk + len("\r\n")
	}
	if r.line {
		r.seen, r.dropped = 0, 0
	}
	r.start += r.seen
	r.seen, r.bulk, r.spans = 0, missing, r.spans[:0]
}

// sink drops what has come of the string that is dropped, or of the line.
func (r *reader) sink() {
	n := min(r.skip, r.end-r.start)
	if r.line {
		n = r.end - r.start
		if i := bytes.IndexByte(r.buf[r.start:r.end], '\n'); i >= 0 {
			n, r.line = i+1, false
		}
	} else if r.skip -= n; r.skip == 0 && n > 0 {
		r.left--
	}
	r.start += n
	r.dropped += n
}

// drop drops what has come of a command, and reports whether it is over.
func (r *reader) drop() (over bool, err error) {
	for {
		r.sink()
		if r.line && r.dropped > mostInline {
			return false, protoInline
		}
		if r.line || r.skip > 0 {
			return false, nil
		}
		if r.left == 0 {
			r.dropping, r.dropped = false, 0
			return true, nil
		}
		size, err := r.length()
		if size == 0 || err != nil {
			return false, err
		}
		r.start += size
		r.dropped += size
		r.skip, r.bulk = r.bulk+len("\r\n"), missing
		if r.dropped+r.skip > r.limits.request {
			return false, r.tooLarge()
		}
	}
}

// printable is c, or what stands for it in an error.
func printable(c byte) byte {
	if c < ' ' || c > '~' {
		return '.'
	}
	return c
}
