package watch

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/linked"
)

// Page is the live page of a process, and the events that it asks for. It looks at the run while it has a reader.
type Page struct {
	of  func() *orwl.Runtime
	own func(ctx context.Context) []Table                       // nil: the program has no tables of its own
	ask func(ctx context.Context) (run inspect.Run, there bool) // false: there is no runtime yet

	mu      sync.Mutex
	readers map[*reader]bool
	looking bool // a goroutine looks
	over    chan struct{}
	closed  bool
	viewer  viewer
	last    inspect.Run
	// kept are the events of the last minute, with the programs that they need.
	kept     []event
	size     int
	programs map[int][]byte
	painting bool // a goroutine paints the picture
	painted  time.Time
	listed   time.Time // when the tables were read
}

// reader is an open stream of events.
type reader struct{ events chan []byte }

// event is a look or a picture.
type event struct {
	at      time.Time
	program int // 0: a picture
	text    []byte
}

const (
	tick        = 250 * time.Millisecond
	slowest     = 5 * time.Second
	share       = 100 // looks take at most one of so many parts of the time, and pictures another one
	keeps       = time.Minute
	keepsBytes  = 16 << 20
	mostReaders = 64
	behind      = 64          // events that a reader may be behind
	slowTick    = time.Second // for the picture, and for tables
)

// New makes the page of a runtime: of returns it, or nil if there is none yet.
func New(of func() *orwl.Runtime) *Page {
	p := &Page{of: of, readers: make(map[*reader]bool), programs: make(map[int][]byte), over: make(chan struct{})}
	p.ask = func(ctx context.Context) (run inspect.Run, there bool) {
		rt := p.of()
		if rt == nil {
			return run, false
		}
		return rt.InspectAll(ctx), true
	}
	return p
}

// Register has a server answer what the page asks for.
func (p *Page) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", serve)
	mux.HandleFunc("GET /watch/events", p.events)
	mux.HandleFunc("GET /watch/why", p.why)
	mux.HandleFunc("GET /watch/resource", p.resource)
}

// Close ends all streams. The server that has the page is about to close.
func (p *Page) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.over)
	}
}

//go:embed page.html page.css data.js words.js draw.js tables.js keys.js
var sources embed.FS

// page is the whole page. Its scripts are one, in this order.
var page = sync.OnceValue(func() []byte {
	read := func(names ...string) (all string) {
		for _, name := range names {
			b, err := sources.ReadFile(name)
			if err != nil {
				panic(err) // it is embedded
			}
			all += string(b)
		}
		return all
	}
	r := strings.NewReplacer("/* page.css */\n", read("page.css"), "/* the scripts */\n", read("data.js", "words.js", "draw.js", "tables.js", "keys.js"))
	return []byte(r.Replace(read("page.html")))
})

// serve serves the page. It may load nothing from elsewhere, and no other page may frame it.
func serve(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(page()) // a reader that is gone sees nothing
}

// events is a stream of server-sent events: the last minute, and then each look.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	me := p.join()
	if me == nil {
		http.Error(w, fmt.Sprintf("%d pages look already, or the program ends", mostReaders), http.StatusServiceUnavailable)
		return
	}
	defer p.leave(me)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	for {
		var text []byte
		select {
		case text = <-me.events:
		case <-r.Context().Done():
			return
		case <-p.over:
			_, _ = w.Write(render("end", struct{}{}))
			_ = out.Flush()
			return
		}
		if text == nil {
			return // it is too far behind: the page connects again
		}
		_ = out.SetWriteDeadline(time.Now().Add(keeps))
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
	}
}

// join opens a stream. The first one has the page look.
func (p *Page) join() *reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.readers) >= mostReaders {
		return nil
	}
	me := &reader{make(chan []byte, behind)}
	p.forget(time.Now())
	var begin bytes.Buffer
	begin.WriteString("retry: 500\n\n") // another life of the run comes to this port soon after the end of this one
	for _, program := range p.programs {
		begin.Write(program)
	}
	for _, e := range p.kept {
		begin.Write(e.text)
	}
	me.events <- append(begin.Bytes(), ": here\n\n"...)
	p.readers[me] = true
	if !p.looking {
		p.looking = true
		go p.look()
	}
	return me
}

func (p *Page) leave(me *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.readers, me)
}

// look looks at the run until the last reader has left.
func (p *Page) look() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-p.over:
			return
		}
		began := time.Now()
		run, there := p.ask(context.Background())
		if !p.seen(run, there) {
			return
		}
		p.list(run)
		if rt := p.of(); rt != nil {
			p.paint(rt)
		}
		pause.Reset(min(slowest, max(tick, share*time.Since(began))))
	}
}

// seen tells the readers of a look. It reports whether there are any.
func (p *Page) seen(run inspect.Run, there bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.readers) == 0 {
		p.looking = false
		return false
	}
	if !there {
		return true
	}
	p.last = run
	l, changed := p.viewer.view(run)
	if changed {
		text := render("program", p.viewer.program)
		p.programs[p.viewer.program.ID] = text
		p.tell(text)
	}
	p.keep(event{run.Now, l.Program, render("look", l)})
	return true
}

// keep keeps an event for a minute, and tells it. p.mu is held.
func (p *Page) keep(e event) {
	p.kept = append(p.kept, e)
	p.size += len(e.text)
	p.forget(e.at)
	p.tell(e.text)
}

// forget drops what is too old or too much. p.mu is held.
func (p *Page) forget(now time.Time) {
	old := 0
	for old < len(p.kept) && (now.Sub(p.kept[old].at) > keeps || p.size > keepsBytes) {
		p.size -= len(p.kept[old].text)
		old++
	}
	p.kept = slices.Delete(p.kept, 0, old)
	if old == 0 {
		return
	}
	used := map[int]bool{p.viewer.program.ID: true}
	for _, e := range p.kept {
		used[e.program] = true
	}
	for id := range p.programs {
		if !used[id] {
			delete(p.programs, id)
		}
	}
}

// tell tells all readers. p.mu is held.
func (p *Page) tell(text []byte) {
	for r := range p.readers {
		select {
		case r.events <- text:
		default:
			delete(p.readers, r)
			close(r.events)
		}
	}
}

// render is a server-sent event.
func render(name string, data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // all of it can be JSON
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, b)
}

// why names the culprit: in a line, or as JSON if that is asked for. If something has moved a moment ago, it looks twice.
func (p *Page) why(w http.ResponseWriter, r *http.Request) {
	run, there := p.ask(r.Context())
	if !there {
		http.Error(w, "no task runs: the program has no runtime yet", http.StatusNotFound)
		return
	}
	if !run.Why().Stands && run.Runs() {
		again := time.NewTimer(inspect.Again)
		defer again.Stop()
		select {
		case <-again.C:
			run, _ = p.ask(r.Context())
		case <-r.Context().Done():
			return
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(run.Why())
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, run.Why())
}

// resource is the queue of a resource in the last look, where it is whole, or else as some node knows it.
func (p *Page) resource(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	p.mu.Lock()
	run := p.last
	p.mu.Unlock()
	var found *inspect.ResourceState
	for _, n := range run.Nodes {
		if n.State == nil {
			continue
		}
		for i := range n.State.Resources {
			if s := &n.State.Resources[i]; s.Resource == name && (found == nil || s.Whole) {
				found = s
			}
		}
	}
	if found == nil {
		http.Error(w, "no look has seen a resource of this name", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found)
}

func init() { linked.Watch = begin }

// Variable says where the page is: 1, or HOST:PORT. Node i of a run has it at PORT+i.
const Variable = "ORWL_WATCH"

// begin serves the page of a runtime, because ORWL_WATCH says so. A page that cannot be served does not end the run.
func begin(w linked.Watched) (end func()) {
	rt := w.Runtime.(*orwl.Runtime)
	p := New(func() *orwl.Runtime { return rt })
	mux := http.NewServeMux()
	p.Register(mux)
	o := port.Options{Address: w.At, Node: w.Port, Key: w.Key, Handler: mux, Closing: p.Close}
	if w.At == "1" {
		o.Address = port.Default
	}
	s, err := port.Serve(context.Background(), o)
	elsewhere := errors.Is(err, port.ErrTaken) && w.At == "1"
	if elsewhere {
		o.Address, o.Node = "127.0.0.1:0", 0
		s, err = port.Serve(context.Background(), o)
	}
	if err != nil {
		w.Log.Error("orwl: no page shows this run", "why", fmt.Errorf("%s is %q: %w", Variable, w.At, err))
		return func() {}
	}
	if w.Node == 0 || elsewhere { // the others are at the next ports
		w.Log.Info("watch", "url", fmt.Sprintf("http://%s/", s.Address()))
	}
	return func() { _ = s.Close() } // no reader sees it
}
