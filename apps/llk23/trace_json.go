package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// write writes the trace in Chrome's format, which Perfetto reads, too: a track
// for each task, which are in groups by node, and an arrow for each hand-over both
// ends of which were noted.
func (tr *trace) write(to io.Writer) error {
	w := traceWriter{to: to, named: make(map[int]bool), left: make(map[journey]bool), arrived: make(map[journey]bool)}
	for _, t := range tr.tracks {
		for _, h := range t.Leaves {
			w.left[h.Journey] = true
		}
		for _, h := range t.Comes {
			w.arrived[h.Journey] = true
		}
	}
	w.text(`{"displayTimeUnit":"ms","traceEvents":[` + "\n" +
		`{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"llk23"}}`)
	for n, t := range tr.tracks {
		if w.pid = t.Node + 1; !w.named[t.Node] && t.Node > 0 {
			w.named[t.Node] = true
			w.event(0, `"ph":"M","name":"process_name","args":{"name":"llk23, node %d"}`, t.Node)
		}
		w.track(n+1, t)
	}
	w.text("\n]}\n")
	return w.err
}

// traceWriter writes events until it fails.
type traceWriter struct {
	to            io.Writer
	err           error
	pid           int              // one more than the node
	named         map[int]bool     // nodes
	left, arrived map[journey]bool // ends that were noted
}

func (w *traceWriter) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

func (w *traceWriter) event(tid int, format string, args ...any) {
	w.text(fmt.Sprintf(",\n"+`{"pid":%d,"tid":%d,`, w.pid, tid) + fmt.Sprintf(format, args...) + "}")
}

// track writes what a task did.
func (w *traceWriter) track(tid int, t *track) {
	w.event(tid, `"ph":"M","name":"thread_name","args":{"name":%q}`, t.Name)
	w.event(tid, `"ph":"M","name":"thread_sort_index","args":{"sort_index":%d}`, tid)
	for _, s := range t.Slices {
		w.event(tid, `"ph":"X","name":%q,"ts":%s,"dur":%s`, s.Phase.String(), micros(s.From), micros(s.To-s.From))
	}
	if t.Dropped > 0 {
		var sums []string
		for p, spent := range t.Rest {
			sums = append(sums, fmt.Sprintf("%q:%s", phase(p).String()+"_us", micros(spent)))
		}
		w.event(tid, `"ph":"X","name":"not recorded: the trace is full","ts":%s,"dur":%s,"args":{"slices":%d,%s}`,
			micros(t.From), micros(t.To-t.From), t.Dropped, strings.Join(sums, ","))
	}
	for _, h := range t.Leaves {
		if w.arrived[h.Journey] {
			w.arrow(tid, `"ph":"s"`, h)
		}
	}
	for _, h := range t.Comes {
		if w.left[h.Journey] {
			w.arrow(tid, `"ph":"f","bp":"e"`, h)
		}
	}
}

func (w *traceWriter) arrow(tid int, end string, h handover) {
	w.event(tid, `%s,"cat":"hand-over","name":"frontier","id":"%d.%d","ts":%s`, end, h.Journey.Frontier, h.Journey.Iteration, micros(h.At))
}

// micros is a time in microseconds, as the format has it, to the nanosecond.
func micros(d time.Duration) string {
	return fmt.Sprintf("%d.%03d", d.Microseconds(), d.Nanoseconds()%1000)
}
