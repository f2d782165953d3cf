package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// The errors of a file.
var (
	// ErrNotJSON is a file that is something else.
	ErrNotJSON = errors.New("trace: not JSON")
	// ErrTruncated is the beginning of a file.
	ErrTruncated = errors.New("trace: the file ends in the middle: write it again, to the end")
	// ErrNoTrace is JSON that is no trace, or one that something else has written.
	ErrNoTrace = errors.New("trace: no trace of tasks: want a file that a trace.Recorder has written")
	// ErrMalformed is a trace in which something makes no sense.
	ErrMalformed = errors.New("trace: malformed")
)

// file is what a file has.
type file struct {
	Other struct {
		Format int         `json:"orwl_trace"`
		From   json.Number `json:"from_us"`
		To     json.Number `json:"to_us"`
		Clocks []clockNote `json:"clocks"`
	} `json:"otherData"`
	Events []fileEvent `json:"traceEvents"`
}

type fileEvent struct {
	Pid, Tid      int
	Ph, Cat, Name string
	TS, Dur       json.Number
	Args          json.RawMessage
}

// mostNode is a bound on what a file claims.
const mostNode = 1 << 20

// Read reads what [Trace.WriteChrome] has written.
func Read(from io.Reader) (*Trace, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, notRead(text, err)
	}
	if f.Other.Format != format {
		if f.Other.Format > format {
			return nil, fmt.Errorf("%w: it has format %d, and this is for %d", ErrNoTrace, f.Other.Format, format)
		}
		return nil, ErrNoTrace
	}
	r := reader{at: make(map[thread]place)}
	for i, e := range f.Events {
		if err := r.event(&e); err != nil {
			return nil, fmt.Errorf("%w: event %d: %w", ErrMalformed, i+1, err)
		}
	}
	for _, n := range f.Other.Clocks {
		c := Clock{Node: n.Node, Offset: r.time(n.Offset), Error: r.time(n.Error), Shared: n.Shared}
		if r.err != nil {
			return nil, fmt.Errorf("%w: clock of node %d: %w", ErrMalformed, n.Node, r.err)
		}
		r.trace.Clocks = append(r.trace.Clocks, c)
	}
	r.trace.From, r.trace.To = r.time(f.Other.From), r.time(f.Other.To)
	if r.err == nil && r.trace.From > r.trace.To {
		r.err = fmt.Errorf("it ends %v before it begins", r.trace.From-r.trace.To)
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: from_us and to_us: %w", ErrMalformed, r.err)
	}
	return &r.trace, nil
}

// truncated reports whether text is the beginning of a JSON object and ends before the
// object does. The decoder tells this by io.ErrUnexpectedEOF. The words and the offset of a
// json.SyntaxError differ between Go versions.
func truncated(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	err := json.NewDecoder(bytes.NewReader(text)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// notRead is why a text is no JSON, or not what was expected.
func notRead(text []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && truncated(text):
		return ErrTruncated
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: byte %d: %w", ErrNotJSON, syntax.Offset, err)
	}
	return fmt.Errorf("%w: %w", ErrNoTrace, err)
}

// reader makes a trace of events.
type reader struct {
	trace Trace
	at    map[thread]place
	err   error // of a number
}

// place is what a line of a viewer is: a task, or an access of it.
type place struct{ track, access int }

const theTask = -1

func (r *reader) event(e *fileEvent) error {
	on := thread{e.Pid, e.Tid}
	switch {
	case e.Ph == "M" && e.Name == "thread_name":
		return r.line(on, e)
	case e.Ph != "X":
		return nil
	}
	at, known := r.at[on]
	if !known {
		return fmt.Errorf("thread %d of process %d has no name", e.Tid, e.Pid)
	}
	from, lasts := r.time(e.TS), r.time(e.Dur)
	if r.err != nil {
		return r.err
	}
	if lasts < 0 {
		return fmt.Errorf("%q lasts %v", e.Name, lasts)
	}
	k := &r.trace.Tracks[at.track]
	switch {
	case at.access != theTask:
		return r.turn(k, at.access, e, from, from+lasts)
	case e.Cat == restCategory:
		return r.rest(k, e, from, from+lasts)
	case e.Cat != waitCategory: // the waits are in the turns
		k.Slices = append(k.Slices, Slice{e.Name, from, from + lasts})
	}
	return nil
}

// line takes the name of a line.
func (r *reader) line(on thread, e *fileEvent) error {
	var n threadNote
	if err := json.Unmarshal(e.Args, &n); err != nil {
		return err
	}
	if _, twice := r.at[on]; twice {
		return fmt.Errorf("thread %d of process %d has two names", on.tid, on.pid)
	}
	if on.pid < 1 || on.pid > mostNode {
		return fmt.Errorf("process %d, want 1 to %d", on.pid, mostNode)
	}
	last := len(r.trace.Tracks) - 1
	if n.Resource != nil {
		if last < 0 || r.trace.Tracks[last].Task != n.Task {
			return fmt.Errorf("an access of task %q comes before the task", n.Task)
		}
		k := &r.trace.Tracks[last]
		r.at[on] = place{last, len(k.Accesses)}
		k.Accesses = append(k.Accesses, Access{Resource: *n.Resource, Write: n.Write})
		return nil
	}
	r.at[on] = place{last + 1, theTask}
	r.trace.Tracks = append(r.trace.Tracks, Track{
		Task: n.Task, Node: on.pid - 1, Began: r.when(n.Began), Ended: r.when(n.Ended), Handling: r.span(n.Handling),
	})
	return r.err
}

// turn takes a turn from the slice that has all of it in its arguments.
func (r *reader) turn(k *Track, access int, e *fileEvent, from, to time.Duration) error {
	if e.Args == nil {
		return nil
	}
	var n turnNote
	if err := json.Unmarshal(e.Args, &n); err != nil {
		return err
	}
	u := Turn{
		Access: access, Requested: r.time(n.Requested), Here: r.when(n.Here), Asked: r.when(n.Asked),
		Acquired: from, Released: to, Fence: n.Fence, Version: n.Version, Bytes: n.Bytes,
	}
	if n.Cancelled {
		u.Acquired = none
	}
	if u.Requested > from {
		return fmt.Errorf("an access is acquired %v before it is requested", u.Requested-from)
	}
	if start, end, waited := u.Waited(); waited && end < start {
		return fmt.Errorf("a wait ends %v before it begins", start-end)
	}
	k.Turns = append(k.Turns, u)
	return r.err
}

func (r *reader) rest(k *Track, e *fileEvent, from, to time.Duration) error {
	var n restNote
	if err := json.Unmarshal(e.Args, &n); err != nil {
		return err
	}
	k.Rest = Rest{Slices: n.Slices, Turns: n.Turns, From: from, To: to}
	for name, sum := range n.Sums {
		if k.Rest.Sums == nil {
			k.Rest.Sums = make(map[string]time.Duration)
		}
		k.Rest.Sums[name] = r.time(sum)
	}
	return r.err
}

// mostMicros is the last time that a number of the file tells to the nanosecond.
const mostMicros = 1 << 43

// time is a time in the file.
func (r *reader) time(n json.Number) time.Duration {
	us, err := strconv.ParseFloat(string(n), 64)
	if err == nil && math.Abs(us) > mostMicros {
		err = fmt.Errorf("%s µs are too many", n)
	}
	if err != nil {
		r.err = err
		return 0
	}
	return time.Duration(math.Round(us * 1000))
}

// when is a time that may not have come, and span one that may not be given.
func (r *reader) when(n json.Number) time.Duration {
	if n == "" {
		return none
	}
	return r.time(n)
}

func (r *reader) span(n json.Number) time.Duration {
	if n == "" {
		return 0
	}
	return r.time(n)
}
