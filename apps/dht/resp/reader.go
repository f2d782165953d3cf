package resp

import (
	"bytes"
	"fmt"
	"io"
)

// protocolError is why a connection cannot go on: the server cannot tell where the next command
// begins.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// The limits that Redis has, too.
const (
	mostArgs         = 1 << 20  // strings of a command
	mostInline       = 64 << 10 // bytes of an inline command
	strangersArgs    = 10       // and of one that comes before the password
	strangersBulk    = 16 << 10
	mostDigits       = 20 // of a number with its sign
	leastBuffer      = 4 << 10
	pipelineBuffer   = 64 << 10 // the buffer of who sends as much as fits in
	missing          = -1
	argsKeptAtRest   = 1 << 10
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
type reader struct {
	from       io.Reader
	limits     limits
	buf        []byte
	start, end int

	// Of the command that begins at start, relative to it, so that the buffer can
	// move: how far it was looked at, how many strings it has still to bring, the
	// length of the string that seen points at, and where the others are.
	seen  int
	left  int
	bulk  int
	spans []span

	args [][]byte
}

// span is where a string is.
type span struct{ from, to int }

func newReader(from io.Reader, l limits) *reader {
	return &reader{from: from, limits: l, bulk: missing}
}

// next is the next command that is here completely, or nil. Its strings are valid
// until fill.
func (r *reader) next() ([][]byte, error) {
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
	rest := r.buf[r.start+r.seen : r.end]
	if r.bulk == missing {
		if len(rest) == 0 {
			return false, nil
		}
		if rest[0] != '$' {
			return false, protocolError(fmt.Sprintf("expected '$', got '%c'", printable(rest[0])))
		}
		n, size, ok := r.number()
		if size == 0 {
			return false, r.tooLong(protoBulk)
		}
		if !ok || n < 0 || n > int64(r.limits.bulk) {
			return false, protoBulk
		}
		if r.limits.stranger && n > strangersBulk {
			return false, strangersTooLong
		}
		if r.seen+size+int(n)+2 > r.limits.request {
			return false, protocolError(fmt.Sprintf("request is longer than %d bytes", r.limits.request))
		}
		r.seen, r.bulk, rest = r.seen+size, int(n), rest[size:]
	}
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

// room makes room to read into, for what has come and as much again: a length that
// a client only says costs nothing.
func (r *reader) room() {
	full := r.end == len(r.buf)
	held := copy(r.buf, r.buf[r.start:r.end])
	r.start, r.end = 0, held
	size := len(r.buf)
	switch {
	case size == 0:
		size = leastBuffer
	case held == size:
		size = min(2*size, r.limits.request+pipelineBuffer)
	case full && size < pipelineBuffer:
		size *= 2
	case held <= pipelineBuffer/2 && size > pipelineBuffer:
		size = pipelineBuffer
	}
	if size != len(r.buf) {
		grown := make([]byte, size)
		copy(grown, r.buf[:held])
		r.buf = grown
	}
	if cap(r.args) > argsKeptAtRest && r.left == 0 {
		r.args, r.spans = nil, nil
	}
}

// printable is c, or what stands for it in an error.
func printable(c byte) byte {
	if c < ' ' || c > '~' {
		return '.'
	}
	return c
}
