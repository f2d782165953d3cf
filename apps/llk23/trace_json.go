package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// write writes the trace in Chrome's format, which Perfetto reads, too: a track
// for each task, and an arrow for each hand-over both ends of which were noted.
func (tr *trace) write(to io.Writer) error {
	w := traceWriter{to: to, left: make(map[journey]bool), arrived: make(map[journey]bool)}
	for _, t := range tr.tracks {
		for _, h := range t.leaves {
			w.left[h.journey] = true
		}
		for _, h := range t.comes {
			w.arrived[h.journey] = true
		}
	}
	w.text(`{"displayTimeUnit":"ms","traceEvents":[` + "\n" +
		`{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"llk23"}}`)
	for n, t := range tr.tracks {
		w.track(n+1, t)
	}
	w.text("\n]}\n")
	return w.err
}

// traceWriter writes events until it fails.
type traceWriter struct {
	to            io.Writer
	err           error
	left, arrived map[journey]bool // ends that were noted
}

func (w *traceWriter) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

func (w *traceWriter) event(tid int, format string, args ...any) {
	w.text(fmt.Sprintf(",\n"+`{"pid":1,"tid":%d,`, tid) + fmt.Sprintf(format, args...) + "}")
}

// track writes what a task did.
func (w *traceWriter) track(tid int, t *track) {
	w.event(tid, `"ph":"M","name":"thread_name","args":{"name":%q}`, t.name)
	w.event(tid, `"ph":"M","name":"thread_sort_index","args":{"sort_index":%d}`, tid)
	for _, s := range t.slices {
		w.event(tid, `"ph":"X","name":%q,"ts":%s,"dur":%s`, s.phase.String(), micros(s.from), micros(s.to-s.from))
	}
	if t.dropped > 0 {
		var sums []string
		for p, spent := range t.rest {
			sums = append(sums, fmt.Sprintf("%q:%s", phase(p).String()+"_us", micros(spent)))
		}
		w.event(tid, `"ph":"X","name":"not recorded: the trace is full","ts":%s,"dur":%s,"args":{"slices":%d,%s}`,
			micros(t.from), micros(t.to-t.from), t.dropped, strings.Join(sums, ","))
	}
	for _, h := range t.leaves {
		if w.arrived[h.journey] {
			w.arrow(tid, `"ph":"s"`, h)
		}
	}
	for _, h := range t.comes {
		if w.left[h.journey] {
			w.arrow(tid, `"ph":"f","bp":"e"`, h)
		}
	}
}

func (w *traceWriter) arrow(tid int, end string, h handover) {
	w.event(tid, `%s,"cat":"hand-over","name":"frontier","id":"%d.%d","ts":%s`, end, h.frontier, h.iteration, micros(h.at))
}

// micros is a time in microseconds, as the format has it, to the nanosecond.
func micros(d time.Duration) string {
	return fmt.Sprintf("%d.%03d", d.Microseconds(), d.Nanoseconds()%1000)
}
