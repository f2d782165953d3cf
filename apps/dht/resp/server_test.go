package resp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/apps/dht/table"
	"github.com/orwl/go-orwl/internal/rings"
)

func TestOptions(t *testing.T) {
	good := Options{Store: newFake()}
	for _, row := range []struct {
		change func(o *Options)
		want   string // in the error
	}{
		{func(o *Options) {}, ""},
		{func(o *Options) { o.Store = nil }, "Store"},
		{func(o *Options) { o.Clients = -1 }, "Clients is -1, want 1 to 65536"},
		{func(o *Options) { o.Idle = 1 }, "Idle is 1ns"},
		{func(o *Options) { o.Bulk = 63 }, "Bulk is 63, want 64 to 536870912"},
		{func(o *Options) { o.Request = 1000 }, "Request is 1000, want 1049600 to"},
		{func(o *Options) { o.Reply = MostRequest + 1 }, "Reply is 1073741825"},
		{func(o *Options) { o.Bulk = MostBulk }, ""},
	} {
		o := good
		row.change(&o)
		s, err := New(o)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("New: %v, want %q in it", err, row.want)
		}
		if err == nil {
			s.Close()
		}
	}
}

// TestPassword keeps strangers out, and what they send short.
func TestPassword(t *testing.T) {
	w := serve(t, Options{Password: "secret"})
	c := dial(t, w.addr)
	for _, row := range [][2]string{
		{"PING", "-" + textNoAuth}, {"GET k", "-" + textNoAuth}, {"COMMAND", "-" + textNoAuth}, {"FROB", "-ERR unknown command 'FROB', with args beginning with: "},
		{"HELLO", "-" + textHelloAuth}, {"HELLO 3", "-" + textHelloAuth}, {"AUTH wrong", "-" + textWrongPass}, {"AUTH other secret", "-" + textWrongPass},
		{"AUTH default secre", "-" + textWrongPass}, {"HELLO 3 AUTH default wrong", "-" + textWrongPass}, {"PING", "-" + textNoAuth},
		{"AUTH secret", "+OK"}, {"PING", "+PONG"}, {"RESET", "+RESET"}, {"PING", "-" + textNoAuth}, {"AUTH default secret", "+OK"}, {"AUTH wrong", "-" + textWrongPass}, {"PING", "+PONG"},
	} {
		c.send(row[0] + "\r\n")
		c.expect(row[1] + "\r\n")
	}
	c = dial(t, w.addr)
	c.send("HELLO 3 AUTH default secret SETNAME me\r\n")
	c.expect("%7\r\n")
	for sent, want := range map[string]string{
		"*11\r\n":                             "unauthenticated multibulk length",
		"*1\r\n$16385\r\n":                    "unauthenticated bulk length",
		"1 2 3 4 5 6 7 8 9 10 11\r\n":         "unauthenticated multibulk length",
		array("QUIT") + array("PING"):         "",
		array("AUTH", "secret") + "*2000\r\n": "",
	} {
		c := dial(t, w.addr)
		c.send(sent)
		heard := c.all()
		if want == "" && heard != "+OK\r\n" || want != "" && heard != "-ERR Protocol error: "+want+"\r\n" {
			t.Errorf("%q is answered with %q, want %q", sent, heard, want)
		}
	}
}

func TestTooManyClients(t *testing.T) {
	w := serve(t, Options{Clients: 2})
	first, second := dial(t, w.addr), dial(t, w.addr)
	for _, c := range []*client{first, second} {
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
	}
	if got, want := dial(t, w.addr).rest(), "-ERR max number of clients reached\r\n"; got != want {
		t.Errorf("the third heard %q, want %q", got, want)
	}
	first.send("QUIT\r\n")
	if got := first.rest(); got != "+OK\r\n" {
		t.Fatalf("QUIT is answered with %q", got)
	}
	// The place is free as soon as the server has noticed, which may take tries.
	for {
		c := dial(t, w.addr)
		if _, err := io.WriteString(c, "PING\r\n"); err != nil {
			continue
		}
		line, err := c.in.ReadString('\n')
		if line == "+PONG\r\n" {
			break
		}
		if err == nil && line != "-ERR max number of clients reached\r\n" {
			t.Fatalf("heard %q", line)
		}
	}
	second.send("INFO stats\r\n")
	second.expect("$")
}

// TestIdle hangs up on a client that says nothing, and on one that does not listen.
func TestIdle(t *testing.T) {
	gone := make(events, 2)
	w := serve(t, Options{Idle: 20 * time.Millisecond, Bulk: 1 << 20, Log: slog.New(gone)})
	if got := dial(t, w.addr).rest(); got != "" {
		t.Errorf("an idle client heard %q", got)
	}
	if got := <-gone; !strings.Contains(got, "timeout") {
		t.Errorf("of an idle client the log says %q", got)
	}
	deaf := dial(t, w.addr)
	deaf.SetReadBuffer(4 << 10)
	// On a slow machine it may be hung up on before it has said all.
	io.WriteString(deaf, array("SET", "k", strings.Repeat("x", 1<<20))+strings.Repeat(array("GET", "k"), 60))
	if got := <-gone; !strings.Contains(got, "timeout") {
		t.Errorf("of a deaf client the log says %q", got)
	}
}

// events are what a log says.
type events chan string

func (e events) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (e events) WithAttrs([]slog.Attr) slog.Handler           { return e }
func (e events) WithGroup(string) slog.Handler                { return e }

func (e events) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	e <- text
	return nil
}

// TestShutdown lets a command finish that is being executed, and answers it.
func TestShutdown(t *testing.T) {
	gate := &gated{fake: newFake(), entered: make(chan struct{}), open: make(chan struct{})}
	w := serve(t, Options{Store: gate, Now: gate.now.Load})
	c, idle := dial(t, w.addr), dial(t, w.addr)
	idle.send("PING\r\n")
	idle.expect("+PONG\r\n")
	c.send(array("SET", "k", "v"))
	<-gate.entered
	ended := make(chan error)
	go func() { ended <- w.Shutdown(t.Context()) }()
	if got := idle.rest(); got != "" {
		t.Errorf("an idle client heard %q", got)
	}
	close(gate.open)
	if got := c.rest(); got != "+OK\r\n" {
		t.Errorf("heard %q, want +OK", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := net.Dial("tcp", w.addr); err == nil {
		t.Error("a closed server takes connections")
	}
}

// TestShutdownImpatient gives up on a command that does not end.
func TestShutdownImpatient(t *testing.T) {
	gate := &gated{fake: newFake(), entered: make(chan struct{}), open: make(chan struct{})}
	w := serve(t, Options{Store: gate, Now: gate.now.Load})
	c := dial(t, w.addr)
	c.send(array("SET", "k", "v"))
	<-gate.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v, want that the context is done", err)
	}
}

// gated is a store whose Do waits for the gate or its context.
type gated struct {
	*fake
	once          sync.Once
	entered, open chan struct{}
}

func (g *gated) Do(ctx context.Context, ops []table.Op, results []table.Result) {
	g.once.Do(func() { close(g.entered) })
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	g.fake.Do(ctx, ops, results)
}

// TestBabble sends a pipeline of nothing but mistakes. The server remembers little of them.
func TestBabble(t *testing.T) {
	s, err := New(Options{Store: newFake()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, mistake := range []string{array("FROB"), array("GET"), array("INCRBY", "k", "x"), array("SELECT", "9")} {
		p := &tape{pieces: [][]byte{[]byte(strings.Repeat(mistake, 5000))}}
		c := s.newConn(p, 1)
		c.serve()
		if n := bytes.Count(p.heard.Bytes(), []byte("-ERR")); n != 5000 || cap(c.out) > 2*keptReply {
			t.Errorf("%q is answered %d times of 5000, by a buffer of %d bytes", mistake, n, cap(c.out))
		}
	}
}

// TestStoreErrors says whose keys are lost, and goes on with the others.
func TestStoreErrors(t *testing.T) {
	w := serve(t, Options{})
	lost := &table.NodeLostError{Node: 1, Why: errors.New("it left\r\nthe run")}
	w.fake.lost = func(key []byte) error {
		switch string(key) {
		case "lost":
			return lost
		case "full":
			return fmt.Errorf("volume 3: %w", table.ErrFull)
		}
		return nil
	}
	c := dial(t, w.addr)
	gone := "-ERR node 1, which has the key, is lost: it left  the run\r\n"
	for _, row := range [][2]string{
		{"SET k v", "+OK\r\n"}, {"GET lost", gone}, {"SET lost x", gone}, {"MGET k lost k", gone}, {"DEL lost other", gone}, {"DEL other lost", gone},
		{"EXISTS k lost", gone}, {"MSET lost 1 k w", gone}, {"GET k", "$1\r\nw\r\n"}, {"TTL lost", gone}, {"TYPE lost", gone},
		{"SET full x", "-OOM volume 3: table: volume is full: delete something, or give Options.Most more\r\n"}, {"GET k", "$1\r\nw\r\n"},
	} {
		if got := c.ask(row[0]); got != row[1] {
			t.Errorf("> %s\nanswered %q\nwant     %q", row[0], got, row[1])
		}
	}
	w.fake.broken = table.ErrClosed
	for _, command := range []string{"GET k", "DBSIZE", "KEYS *", "SCAN 0", "FLUSHALL", "INFO", "MGET k k"} {
		if got := c.ask(command); got != "-ERR closed\r\n" {
			t.Errorf("> %s\nanswered %q", command, got)
		}
	}
}

// TestBatches counts how often the store is asked.
func TestBatches(t *testing.T) {
	rings.Costly(t)
	f := newFake()
	s, err := New(Options{Store: f, Now: f.now.Load})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := s.newConn(&tape{pieces: [][]byte{[]byte(strings.Repeat(array("INCR", "n")+array("MGET", "n", "m")+array("SET", "m", "v"), 100))}}, 1)
	c.serve()
	// 8, 16, 32, ... operations at once, and whatever a full read buffer cuts.
	if n := f.calls.Load(); n > 12 {
		t.Errorf("400 operations took %d calls", n)
	}
	if n := f.widest.Load(); n < 64 || n > mostWidth {
		t.Errorf("the widest batch had %d operations", n)
	}
	// Long values make it narrow again.
	f = newFake()
	s2, err := New(Options{Store: f, Now: f.now.Load})
	if err != nil {
		t.Fatal(err)
	}
	defer s2.Close()
	c = s2.newConn(&tape{pieces: [][]byte{[]byte(array("SET", "k", strings.Repeat("x", 1<<20)) + strings.Repeat(array("GET", "k"), 200))}}, 1)
	c.serve()
	if c.width > 2*leastWidth || cap(c.out) > 2*keptReply || c.batch != nil {
		t.Errorf("after long values, a batch takes %d operations and the reply keeps %d bytes; the next batch is %v", c.width, cap(c.out), c.batch)
	}
	for _, r := range s2.batches.Get().(*batch).results {
		if cap(r.Value) > keptValue {
			t.Errorf("a result keeps %d bytes", cap(r.Value))
		}
	}
}

// TestNoAllocation reads and executes a pipeline over and over.
func TestNoAllocation(t *testing.T) {
	if rings.Race {
		t.Skip("the race detector makes a sync.Pool forget what it has")
	}
	f := newFake()
	s, err := New(Options{Store: f, Now: f.now.Load})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := []byte(strings.Repeat(array("SET", "key", "value")+array("GET", "key")+array("STRLEN", "key")+array("MGET", "key", "x"), 20))
	p := &tape{}
	c := s.newConn(p, 1)
	round := func() {
		p.pieces = append(p.pieces[:0], text)
		p.heard.Reset()
		for len(p.pieces[0]) > 0 || c.reader.start < c.reader.end {
			if len(p.pieces[0]) > 0 {
				if err := c.reader.fill(); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.pipeline(); err != nil {
				t.Fatal(err)
			}
			c.flush()
		}
	}
	for range 20 {
		round()
	}
	if n := testing.AllocsPerRun(50, round); n > 1 {
		t.Errorf("80 commands make %v allocations", n)
	}
}

// TestManyClients counts together, each in pipelines.
func TestManyClients(t *testing.T) {
	w := serve(t, Options{})
	const clients, rounds, deep = 8, 20, 25
	var all sync.WaitGroup
	for range clients {
		c := dial(t, w.addr)
		all.Go(func() {
			for range rounds {
				if _, err := io.WriteString(c, strings.Repeat(array("INCR", "n"), deep)); err != nil {
					t.Error(err)
					return
				}
				for range deep {
					if line, err := c.in.ReadString('\n'); err != nil || line[0] != ':' {
						t.Errorf("heard %q, %v", line, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	c := dial(t, w.addr)
	if got, want := c.ask("GET n"), fmt.Sprintf("$4\r\n%d\r\n", clients*rounds*deep); got != want {
		t.Errorf("counted %q, want %q", got, want)
	}
	if got := c.ask("CLIENT LIST"); strings.Count(got, "\n") < clients+1 {
		t.Errorf("CLIENT LIST shows %q", got)
	}
}

// TestLog reports a wrong password, but never the password itself.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	f := newFake()
	s, err := New(Options{Store: f, Password: "secret", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.newConn(&tape{pieces: [][]byte{[]byte(array("AUTH", "guess") + array("AUTH", "secret") + "*x\r\n")}}, 1).serve()
	text := log.String()
	if !strings.Contains(text, "wrong password") || !strings.Contains(text, "invalid multibulk length") {
		t.Errorf("the log does not tell what was wrong:\n%s", text)
	}
	if strings.Contains(text, "guess") || strings.Contains(text, "secret") {
		t.Errorf("the log tells a password:\n%s", text)
	}
}

// TestCounts counts what was sent, however it was answered.
func TestCounts(t *testing.T) {
	w := serve(t, Options{})
	w.fake.lost = func(key []byte) error {
		if string(key) == "lost" {
			return table.ErrClosed
		}
		return nil
	}
	c := dial(t, w.addr)
	c.send(strings.Repeat(array("SET", "k", "v"), 20) + array("GET", "lost") + array("MGET", "k", "lost", "lost") + array("SET", "k", "v", "x") +
		array("FROB") + array("SET") + array("CLIENT", "FROB") + array("CLIENT", "ID") + array("CLIENT", "ID") + array("GET", "k") + array("QUIT"))
	c.all()
	for len(w.clients()) > 0 { // counts before it goes
		runtime.Gosched()
	}
	counts := w.Counts()
	got := make(map[string][2]uint64)
	for _, n := range counts.Commands {
		if n.Calls+n.Failed > 0 {
			got[n.Name] = [2]uint64{n.Calls, n.Failed}
		}
	}
	want := map[string][2]uint64{"set": {22, 2}, "get": {2, 1}, "mget": {1, 1}, "client": {3, 1}, "quit": {1, 0}}
	if !maps.Equal(got, want) || counts.Unknown != 1 || counts.Accepted != 1 || counts.Connections != 0 {
		t.Errorf("counted %v of %+v, want %v", got, counts, want)
	}
}
