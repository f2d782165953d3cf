package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// The file is a JSON object in Chrome's trace event format:
//
//	process   a node
//	thread    a task, or below it one of its accesses
//	X         a slice: of a task (category task or wait), or of an access (access)
//	s, f      an arrow from a hold to the next one
//
// All that [Read] needs of a turn is in the arguments of its hold, or if it was cancelled
// of its request.

// format is what the file says of itself, which a reader asks for.
const format = 1

// The names of the slices of accesses, and of the slice that stands for all that had no room.
const (
	request  = "request"
	prefetch = "prefetch"
	hold     = "hold"
	notKept  = "not recorded: the trace is full"
)

// Categories.
const (
	taskCategory   = "task"
	waitCategory   = "wait" // of a task
	restCategory   = "rest" // of a task
	accessCategory = "access"
	arrowCategory  = "hand-over"
)

// WriteChrome writes the trace in Chrome's format, which Perfetto reads, too.
func (t *Trace) WriteChrome(to io.Writer) error {
	b := bufio.NewWriter(to)
	w := &chromeWriter{to: b}
	w.begin = min(0, t.From) // no viewer likes what was before the beginning
	w.header(t)
	threads := make([][]thread, len(t.Tracks))
	next := 1
	for i := range t.Tracks {
		threads[i], next = w.threads(&t.Tracks[i], next)
	}
	for i := range t.Tracks {
		w.track(&t.Tracks[i], threads[i])
	}
	for n, h := range t.Handovers() {
		end, begin := t.turn(h.To), t.turn(h.From)
		w.arrow("s", "", n, h, threads[h.From.Track][1+begin.Access], max(begin.Acquired, begin.Released-1))
		w.arrow("f", `,"bp":"e"`, n, h, threads[h.To.Track][1+end.Access], end.Acquired)
	}
	w.text("\n]}\n")
	if w.err != nil {
		return w.err
	}
	return b.Flush()
}

// thread is a line in a viewer.
type thread struct{ pid, tid int }

// chromeWriter writes events until it fails.
type chromeWriter struct {
	to    io.Writer
	begin time.Duration
	err   error
}

func (w *chromeWriter) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

func (w *chromeWriter) event(th thread, format string, args ...any) {
	w.text(fmt.Sprintf(",\n"+`{"pid":%d,"tid":%d,`, th.pid, th.tid) + fmt.Sprintf(format, args...) + "}")
}

// header is what the file says of itself, and the names of the nodes.
func (w *chromeWriter) header(t *Trace) {
	clocks := make([]clockNote, 0, len(t.Clocks))
	for _, c := range t.Clocks {
		clocks = append(clocks, clockNote{c.Node, micros(c.Offset), micros(c.Error), c.Shared})
	}
	about, err := json.Marshal(clocks)
	if w.err = err; err != nil {
		return
	}
	w.text(fmt.Sprintf(`{"displayTimeUnit":"ns","otherData":{"orwl_trace":%d,"from_us":%s,"to_us":%s,"clocks":%s},"traceEvents":[`,
		format, w.at(t.From), w.at(t.To), about))
	between := "\n"
	named := make(map[int]bool)
	for i := range t.Tracks {
		if n := t.Tracks[i].Node; !named[n] {
			named[n] = true
			w.text(fmt.Sprintf(between+`{"pid":%d,"tid":0,"ph":"M","name":"process_name","args":{"name":"node %d"}}`, n+1, n))
			between = ",\n"
		}
	}
}

// clockNote is a Clock in the file.
type clockNote struct {
	Node   int         `json:"node"`
	Offset json.Number `json:"offset_us"`
	Error  json.Number `json:"error_us"`
	Shared bool        `json:"shared"`
}

// threads names the lines of a task and of its accesses, and returns them in that order.
func (w *chromeWriter) threads(k *Track, next int) ([]thread, int) {
	all := make([]thread, 0, 1+len(k.Accesses))
	name := func(shown string, note threadNote) {
		th := thread{k.Node + 1, next}
		note.Name = shown
		w.event(th, `"ph":"M","name":"thread_name","args":%s`, w.json(note))
		w.event(th, `"ph":"M","name":"thread_sort_index","args":{"sort_index":%d}`, next)
		all = append(all, th)
		next++
	}
	name(k.Task, threadNote{Task: k.Task, Began: w.when(k.Began), Ended: w.when(k.Ended), Handling: micros(k.Handling)})
	for _, a := range k.Accesses {
		name("· "+a.String(), threadNote{Task: k.Task, Resource: &a.Resource, Write: a.Write})
	}
	return all, next
}

// threadNote is what the file says of a line.
type threadNote struct {
	Name     string      `json:"name"`
	Task     string      `json:"task"`
	Resource *string     `json:"resource,omitempty"` // of an access
	Write    bool        `json:"write,omitempty"`
	Began    json.Number `json:"began_us,omitempty"`
	Ended    json.Number `json:"ended_us,omitempty"`
	Handling json.Number `json:"handling_us,omitempty"`
}

// String is what the task does, as in "read x".
func (a Access) String() string {
	if a.Write {
		return "write " + a.Resource
	}
	return "read " + a.Resource
}

// turnNote is what the file says of a turn.
type turnNote struct {
	Requested json.Number `json:"requested_us"`
	Here      json.Number `json:"here_us,omitempty"`
	Asked     json.Number `json:"asked_us,omitempty"`
	Fence     uint64      `json:"fence"`
	Version   uint64      `json:"version"`
	Bytes     int         `json:"bytes,omitempty"`
	Cancelled bool        `json:"cancelled,omitempty"`
}

// restNote is what it says of what it has no room for.
type restNote struct {
	Slices int                    `json:"slices"`
	Turns  int                    `json:"turns"`
	Sums   map[string]json.Number `json:"sums_us"`
}

// track writes what a task did.
func (w *chromeWriter) track(k *Track, on []thread) {
	all := slices.Clone(k.Slices)
	why := make(map[Slice]string)
	for i := range k.Turns {
		if from, to, waited := k.Turns[i].Waited(); waited {
			s := Slice{Wait, from, to}
			all = append(all, s)
			why[s] = k.Accesses[k.Turns[i].Access].String()
		}
	}
	slices.SortStableFunc(all, func(a, b Slice) int { return cmp.Compare(a.From, b.From) })
	for _, s := range all {
		if to, waits := why[s]; waits {
			w.slice(on[0], waitCategory, s, `,"args":{"to":`+w.json(to)+"}")
		} else {
			w.slice(on[0], taskCategory, s, "")
		}
	}
	for i := range k.Turns {
		w.turn(&k.Turns[i], on[1+k.Turns[i].Access])
	}
	if r := &k.Rest; r.Slices > 0 || r.Turns > 0 {
		note := restNote{r.Slices, r.Turns, make(map[string]json.Number)}
		for name, sum := range r.Sums {
			note.Sums[name] = micros(sum)
		}
		w.slice(on[0], restCategory, Slice{notKept, r.From, max(r.From, r.To)}, `,"args":`+w.json(note))
	}
}

func (w *chromeWriter) slice(on thread, category string, s Slice, args string) {
	w.event(on, `"ph":"X","cat":%q,"name":%s,"ts":%s,"dur":%s%s`, category, w.json(s.Name), w.at(s.From), micros(s.To-s.From), args)
}

// turn writes a turn of an access.
func (w *chromeWriter) turn(u *Turn, on thread) {
	note := turnNote{
		Requested: w.at(u.Requested), Here: w.when(u.Here), Asked: w.when(u.Asked),
		Fence: u.Fence, Version: u.Version, Bytes: u.Bytes, Cancelled: u.Acquired == none,
	}
	args := `,"args":` + w.json(note)
	if note.Cancelled {
		w.slice(on, accessCategory, Slice{request, u.Requested, u.Released}, args)
		return
	}
	came := u.Acquired
	if u.Here != none {
		came = min(max(u.Here, u.Requested), u.Acquired)
	}
	w.slice(on, accessCategory, Slice{request, u.Requested, came}, "")
	if u.Here != none {
		w.slice(on, accessCategory, Slice{prefetch, came, u.Acquired}, "")
	}
	w.slice(on, accessCategory, Slice{hold, u.Acquired, u.Released}, args)
}

// arrow writes one end of a hand-over.
func (w *chromeWriter) arrow(phase, more string, number int, h Handover, on thread, at time.Duration) {
	w.event(on, `"ph":%q,"cat":%q,"name":%s,"id":%d,"ts":%s%s`, phase, arrowCategory, w.json(h.Resource), number, w.at(at), more)
}

func (w *chromeWriter) json(v any) string {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	return string(b)
}

// at is a time in the file, and when one that may not have come.
func (w *chromeWriter) at(d time.Duration) json.Number { return micros(d - w.begin) }

func (w *chromeWriter) when(d time.Duration) json.Number {
	if d == none {
		return ""
	}
	return w.at(d)
}

// micros is a time in microseconds, as the format has it, to the nanosecond.
func micros(d time.Duration) json.Number {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return json.Number(fmt.Sprintf("%s%d.%03d", sign, d.Microseconds(), d.Nanoseconds()%1000))
}
