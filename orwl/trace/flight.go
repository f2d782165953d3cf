package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/internal/linked"
	"github.com/orwl/go-orwl/resource"
)

// A flight recorder keeps the last events of each task in memory, and writes them as a trace when something goes wrong. Package
// orwl says when: nothing moves, SIGQUIT has come, or the run ends with an error. ORWL_FLIGHT names the folder.
//
//	task: event ──▶ ring ──▶ the oldest one is forgotten
//	orwl: wrong ──▶ copy all rings ──▶ play them to a Recording each ──▶ file

func init() { linked.Flight = fly }

// flightEvents is how many events a flight recorder keeps, all tasks together, and leastFlight how many of each task.
// An event has 40 bytes.
const (
	flightEvents = 1 << 18
	leastFlight  = 32
)

// mostFlights is how many files a process writes.
const mostFlights = 8

// flight is a flight recorder of a runtime.
type flight struct {
	follower
	dir  string
	log  *slog.Logger
	room func() int

	files int // guarded by the follower's mu
}

// fly makes a flight recorder, which writes to a folder.
func fly(w linked.Flown) (observer any, write func(why string)) {
	f := &flight{dir: w.Dir, log: w.Log}
	f.room = sync.OnceValue(func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return max(leastFlight, flightEvents/max(1, len(f.tasks)))
	})
	began := time.Now()
	f.clock = func() time.Duration { return time.Since(began) }
	f.sink = func(t *orwl.Task) sink { return &lastEvents{task: t, room: f.room, track: trackOf(t)} }
	return f, f.write
}

// trackOf is the track of a task, without what it has done.
func trackOf(t *orwl.Task) Track {
	k := Track{Task: t.Name(), Node: t.Node(), Began: none, Ended: none}
	for _, a := range inner.OfTask(t).Accesses() {
		k.Accesses = append(k.Accesses, Access{Resource: a.Resource().Name(), Write: a.Mode() == resource.Write})
	}
	return k
}

// lastEvents keeps the last events of a task. Its goroutine adds to it, and another one copies it.
type lastEvents struct {
	task  *orwl.Task
	room  func() int
	track Track

	mu     sync.Mutex
	most   int
	events []kept
	next   int // where the next event goes, if the ring is full
}

// kept is an event of a ring.
type kept struct {
	at             time.Duration
	fence, version uint64
	access, bytes  int32 // access: its number; -1 of the task
	kind           kind
}

// take implements sink.
func (r *lastEvents) take(w *watch, e *event) {
	k := kept{at: e.at, kind: e.kind, access: -1, fence: e.fence, version: e.version, bytes: int32(e.bytes)}
	if w != nil {
		k.access = int32(w.number)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most == 0 {
		r.most = r.room()
	}
	if len(r.events) < r.most {
		r.events = append(r.events, k)
		return
	}
	r.events[r.next] = k
	r.next = (r.next + 1) % r.most
}

// play plays the events to a recording, and closes what goes on now.
func (r *lastEvents) play(now time.Duration) Track {
	r.mu.Lock()
	all := slices.Concat(r.events[r.next:], r.events[:r.next])
	r.mu.Unlock()
	rec := &Recording{room: func() int { return len(all) + 1 }, since: none, region: Compute, track: r.track, names: []string{releaseName: Release}, most: len(all) + 1}
	rec.track.Node = r.task.Node()
	rec.last.from, rec.waitEnd = none, none
	watches := make([]watch, len(r.track.Accesses))
	for i := range watches {
		watches[i] = watch{tail: &tail{task: r.task}, number: i, turn: Turn{Access: i, Requested: none, Here: none, Asked: none, Acquired: none, Released: none}}
	}
	for _, k := range all {
		e := event{at: k.at, kind: k.kind, task: r.task, fence: k.fence, version: k.version, bytes: int(k.bytes)}
		var w *watch
		if k.access >= 0 {
			w = &watches[k.access]
			if w.turn.Requested == none {
				w.turn.Requested = k.at // the beginning of the turn is forgotten
			}
			w.holds = w.holds && k.kind != released || k.kind == acquired
			if w.turn.Acquired == none && (k.kind == releasing || k.kind == released) {
				w.turn.Acquired = k.at
			}
		}
		rec.take(w, &e)
	}
	for i := range watches {
		u := &watches[i].turn
		if u.Released == none && (u.Acquired != none || u.Asked != none) {
			u.Released = now // it goes on
			rec.keep(&watches[i])
		}
	}
	if rec.since != none && rec.region != "" {
		rec.cut(now)
	}
	return rec.asTrack()
}

// write writes what the rings have to a file. It may be called while the tasks go on.
func (f *flight) write(why string) {
	f.mu.Lock()
	rings := make([]*lastEvents, 0, len(f.tasks))
	for _, t := range f.tasks {
		rings = append(rings, t.sink.(*lastEvents))
	}
	f.files++
	files := f.files
	f.mu.Unlock()
	if files > mostFlights || len(rings) == 0 {
		return
	}
	now, t := f.clock(), new(Trace)
	for _, r := range rings {
		t.Tracks = append(t.Tracks, r.play(now))
	}
	slices.SortFunc(t.Tracks, byName)
	t.Clocks = []Clock{{Node: t.Tracks[0].Node, Shared: true}}
	t.From, t.To = t.span()
	name := filepath.Join(f.dir, fmt.Sprintf("flight-node%d-%s-%s.json", t.Tracks[0].Node, time.Now().Format("20060102-150405.000"), why))
	err := os.MkdirAll(f.dir, 0o755)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = outfile.Write(name, t.WriteChrome)
	}
	if err != nil {
		f.log.Error("orwl: the flight recorder cannot write what the tasks did", "why", err)
		return
	}
	f.log.Warn("orwl: what the tasks did last is in a file: orwl trace report -html page.html FILE", "because", why, "seconds", (t.To - t.From).Seconds(), "file", name)
}
