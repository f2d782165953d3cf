package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring is a run of three nodes with a hang.
func ring(silent bool) inspect.Run {
	long := inspect.Seconds{Duration: 4200 * time.Millisecond}
	node := func(n int, tasks []inspect.TaskState, waits ...inspect.WaitEdge) inspect.NodeReport {
		for i := range tasks {
			tasks[i].Node = n
		}
		s := &inspect.State{Node: n, Running: true, Still: long, Tasks: tasks, WaitsFor: waits, Workers: &inspect.Workers{All: 2, Asleep: 1}, Sent: []uint64{0, 1 << 22, uint64(time.Now().UnixMilli()) << 4}}
		return inspect.NodeReport{Node: n, Process: inspect.Process{ID: 4711 + n, Host: "host" + fmt.Sprint(n)}, Status: inspect.NodeHere, State: s}
	}
	waits := func(name, what string, behind string) inspect.TaskState {
		return inspect.TaskState{Task: name, State: inspect.TaskWaiting, Round: 7, Rounds: 100, For: long, Waits: &inspect.WaitState{Resource: what, Mode: "read", For: long, Behind: []string{behind}}}
	}
	r := inspect.Run{Now: time.Now(), Nodes: []inspect.NodeReport{
		node(0, []inspect.TaskState{waits("north", "edge 1", "middle"), {Task: "log", State: inspect.TaskQueued, Round: 3}},
			inspect.WaitEdge{From: "north", To: "middle", Resource: "edge 1", Mode: "read", Node: 1, Round: 7}),
		node(1, []inspect.TaskState{waits("middle", "edge 2", "south")}, inspect.WaitEdge{From: "middle", To: "south", Resource: "edge 2", Mode: "read", Node: 2, Round: 7}),
		node(2, []inspect.TaskState{{Task: "south", State: inspect.TaskWorking, Round: 7, Rounds: 100, For: long, Holds: []string{"edge 2"}, At: "main.relax (halo.go:42, chan receive)"}}),
	}}
	if silent {
		r.Nodes[2].State, r.Nodes[2].Silent = nil, long
	}
	return r
}

// A look has what the page needs, by the numbers of the tasks.
func TestView(t *testing.T) {
	var v viewer
	l, changed := v.view(ring(false))
	if !changed || strings.Join(v.program.Names, " ") != "north log middle south" || fmt.Sprint(v.program.Nodes) != "[0 0 1 2]" {
		t.Fatalf("%+v", v.program)
	}
	if l.States != "tqtc" || fmt.Sprint(l.Waits) != "[0 2 0 0 4200 1 -1 -1 0 0 2 3 1 0 4200]" || fmt.Sprint(l.Works) != "[3 4200]" ||
		l.Where[3] != "main.relax (halo.go:42, chan receive)" || l.Why.Task != "south" || fmt.Sprint(v.program.Resources) != "[edge 1 edge 2]" {
		t.Errorf("%+v\n%+v", l, v.program)
	}
	if l, changed = v.view(ring(false)); changed || l.Program != 1 {
		t.Errorf("the same tasks are another program: %+v", l)
	}
	// A node that does not answer keeps its tasks, in their places.
	if l, changed = v.view(ring(true)); changed || l.States != "tqtx" || l.On[2] != "node 2" || l.Nodes[2].Silent != 4200 {
		t.Errorf("a silent node: %t %+v", changed, l)
	}
	other := ring(false)
	other.Nodes[0].State.Tasks[1].Task = "other"
	if l, changed = v.view(other); !changed || l.Program != 2 || v.program.Names[1] != "other" {
		t.Errorf("other tasks: %t %+v", changed, l)
	}
}

// Of very many tasks, some are shown.
func TestViewOfTooMany(t *testing.T) {
	s := &inspect.State{Running: true}
	for i := range 3*mostTasks - 1 {
		s.Tasks = append(s.Tasks, inspect.TaskState{Task: fmt.Sprint(i), State: inspect.TaskWorking})
	}
	var v viewer
	l, _ := v.view(inspect.Run{Nodes: []inspect.NodeReport{{State: s}}})
	if len(l.States) != mostTasks || v.program.Every != 3 || v.program.Names[1] != "3" {
		t.Errorf("%d tasks, one of %d", len(l.States), v.program.Every)
	}
}

// watched is a server of a page of planted runs. It counts the looks.
func watched(t *testing.T, run func() inspect.Run) (p *Page, at string, looks chan struct{}) {
	t.Helper()
	p = New(func() *orwl.Runtime { return nil })
	looks = make(chan struct{}, 1000)
	p.ask = func(context.Context) (inspect.Run, bool) {
		looks <- struct{}{}
		return run(), true
	}
	mux := http.NewServeMux()
	p.Register(mux)
	s := httptest.NewServer(mux)
	t.Cleanup(func() {
		p.Close()
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return p, s.URL, looks
}

// stream reads events until it is stopped.
func stream(t *testing.T, at string) (next func() (name, data string), stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/watch/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, keepsBytes)
	next = func() (name, data string) {
		for lines.Scan() {
			if text, is := strings.CutPrefix(lines.Text(), "event: "); is {
				name = text
			} else if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
				return name, text
			}
		}
		return "", ""
	}
	return next, func() { cancel(); answer.Body.Close() }
}

// The program looks while it has a reader, and only then. A later reader gets the last minute, too.
func TestLooksWhileSomebodyLooks(t *testing.T) {
	p, at, looks := watched(t, func() inspect.Run { return ring(false) })
	if len(looks) > 0 {
		t.Error("it has looked, and nobody asked")
	}
	next, stop := stream(t, at)
	var names []string
	for len(names) < 3 {
		name, data := next()
		names = append(names, name)
		if name == "look" && !strings.Contains(data, "task south works in round 7") {
			t.Errorf("%.300s", data)
		}
	}
	if fmt.Sprint(names) != "[program look look]" {
		t.Errorf("%q", names)
	}
	later, stopLater := stream(t, at)
	for _, want := range []string{"program", "look", "look"} {
		if name, _ := later(); name != want {
			t.Errorf("the second reader gets %s, want %s", name, want)
		}
	}
	stop()
	stopLater()
	for looking := true; looking; { // the reader's end is noticed, and then a look without a reader ends it
		p.mu.Lock()
		looking = p.looking
		p.mu.Unlock()
		select {
		case <-looks:
		case <-time.After(time.Millisecond):
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.readers) > 0 {
		t.Errorf("%d readers are left", len(p.readers))
	}
}

// A page that is closed ends the streams, with a word.
func TestEnd(t *testing.T) {
	p, at, _ := watched(t, func() inspect.Run { return ring(false) })
	next, stop := stream(t, at)
	defer stop()
	p.Close()
	for name := ""; name != "end"; {
		if name, _ = next(); name == "" {
			t.Fatal("the stream ends without a word")
		}
	}
	if name, _ := next(); name != "" {
		t.Errorf("%s comes after the end", name)
	}
}

// TestKeeps bounds the looks that are kept in time and in bytes, with the programs that they need.
func TestKeeps(t *testing.T) {
	p := New(func() *orwl.Runtime { return nil })
	now := time.Unix(1000, 0)
	for i := range 500 {
		p.programs[i+1] = []byte("x")
		p.viewer.program.ID = i + 1
		p.keep(event{now.Add(time.Duration(i) * time.Second), i + 1, make([]byte, 1<<20)})
		if p.size > keepsBytes || len(p.kept) > 61 || len(p.programs) > len(p.kept)+1 {
			t.Fatalf("%d events of %d bytes with %d programs are kept", len(p.kept), p.size, len(p.programs))
		}
	}
	if p.forget(now.Add(time.Hour)); len(p.kept) > 0 || p.size != 0 {
		t.Errorf("%d events of %d bytes are left", len(p.kept), p.size)
	}
}

// A reader that does not read is dropped. The others go on.
func TestSlowReader(t *testing.T) {
	p := New(func() *orwl.Runtime { return nil })
	slow := &reader{make(chan []byte, behind)}
	p.readers[slow] = true
	for range behind {
		p.tell([]byte("x"))
	}
	if !p.readers[slow] {
		t.Error("it is dropped too early")
	}
	if p.tell([]byte("x")); p.readers[slow] {
		t.Error("it is kept")
	}
	for range slow.events {
	}
}

// The culprit is told in one line, or as JSON.
func TestWhyPage(t *testing.T) {
	_, at, looks := watched(t, func() inspect.Run { return ring(false) })
	ask := func(path, accept string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(answer.Body); err != nil {
			t.Error(err)
		}
		return answer.StatusCode, b.String()
	}
	want := ring(false).Why()
	if status, text := ask("/watch/why", ""); status != 200 || text != want.Text+"\n" {
		t.Errorf("%d %q", status, text)
	}
	var got inspect.Why
	if status, text := ask("/watch/why", "application/json"); status != 200 || json.Unmarshal([]byte(text), &got) != nil || got.Task != "south" || got.Waiting != 2 {
		t.Errorf("%d %q", status, text)
	}
	if len(looks) != 2 {
		t.Errorf("%d looks at a run that stands still, want 2", len(looks))
	}
	if status, _ := ask("/watch/resource?name=edge+2", ""); status != 404 {
		t.Errorf("a resource that no look has seen: %d", status)
	}
	status, text := ask("/", "")
	if status != 200 || !strings.Contains(text, "<title>ORWL run</title>") {
		t.Errorf("the page: %d", status)
	}
	for _, from := range []string{"http://", "https://", "//cdn", "import(", "innerHTML"} {
		if strings.Contains(text, from) {
			t.Errorf("the page has %q: it may load nothing, and names are no HTML", from)
		}
	}
}

// In a terminal a look is drawn over the one before. Without one, and once, it is plain.
func TestTop(t *testing.T) {
	_, at, _ := watched(t, func() inspect.Run { return ring(false) })
	var once strings.Builder
	if err := Top(t.Context(), TopOptions{Address: strings.TrimPrefix(at, "http://"), Out: &once, Once: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"something stands still\nnode 2 (process 4713 on host2): task south works in round 7 for 4.2s",
		"\n1 compute, 0 wait for data, 2 wait for a turn, 1 queued, 0 idle; 0.0 rounds a second, 7 % done\n",
		"\nnode 0   1/2 workers      □▪\nnode 1   1/2 workers      □\nnode 2   1/2 workers      █\n",
		"\nnorth (node 0) waits for a turn at edge 1 for 4.2s ──▶ middle\n",
		"\nlog (node 0) waits for a worker\n",
	} {
		if !strings.Contains(once.String(), want) {
			t.Errorf("%s\nwant %q", once.String(), want)
		}
	}
	for _, terminal := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &until{times: 2, then: cancel}
		o := TopOptions{Address: strings.TrimPrefix(at, "http://"), Out: out}
		if terminal {
			o.Size = func() (int, int) { return 60, 24 }
		}
		if err := Top(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		text := out.text.String()
		if terminal {
			for line := range strings.Lines(text) {
				if n := len([]rune(strings.TrimSpace(line))); n > 60+len("\x1b[99A\x1b[J") {
					t.Errorf("a line has %d characters: %q", n, line)
				}
			}
		}
		if strings.Contains(text, "\x1b[J") != terminal || strings.Count(text, "task south works") < 1 || !terminal && strings.Count(text, "\n") != 2 {
			t.Errorf("terminal %t:\n%s", terminal, text)
		}
	}
	if err := Top(t.Context(), TopOptions{Address: "127.0.0.1:1", Out: &once}); !errors.Is(err, ErrNoRun) {
		t.Errorf("where nothing listens: %v", err)
	}
}

// The numbers have the life of the run, and its last cut.
func TestTopOfLives(t *testing.T) {
	r := ring(false)
	r.Nodes[0].State.Life = &inspect.Life{PastLife: inspect.PastLife{Number: 3, From: 60}, Round: 80}
	var v viewer
	l, _ := v.view(r)
	top := top{looks: []look{l}}
	if got, want := top.numbers(&v.program, &l), "7 % done; life 3, the last cut is behind round 80"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s at its end", got, want)
	}
}

// until calls then when it was written to so often.
type until struct {
	text  strings.Builder
	times int
	then  func()
}

func (u *until) Write(b []byte) (int, error) {
	if u.times--; u.times == 0 {
		u.then()
	}
	return u.text.Write(b)
}

// Tables are told with the looks. Locks stand before the program's own ones, and those that were acquired most often come first.
func TestTables(t *testing.T) {
	r := ring(false)
	for i := range mostLocks + 1 {
		g := &inspect.Guard{Algorithm: "MCS", Acquired: uint64(4 * i), Waited: uint64(i)}
		r.Nodes[1].State.Resources = append(r.Nodes[1].State.Resources, inspect.ResourceState{Resource: fmt.Sprint("r", i), Home: 1, Guard: g})
		r.Nodes[0].State.Resources = append(r.Nodes[0].State.Resources, inspect.ResourceState{Resource: fmt.Sprint("r", i), Home: 1, Guard: g})
	}
	p, at, _ := watched(t, func() inspect.Run { return r })
	p.Tables(func(context.Context) []Table {
		return []Table{{Title: "own", Columns: []Column{{"keys", Number}}, Rows: make([]Row, 2*mostRows)}}
	})
	next, stop := stream(t, at)
	defer stop()
	name, data := next()
	for name != "tables" {
		name, data = next()
	}
	var told struct{ Tables []Table }
	if err := json.Unmarshal([]byte(data), &told); err != nil {
		t.Fatal(err)
	}
	if len(told.Tables) != 2 || len(told.Tables[0].Rows) != mostLocks || len(told.Tables[1].Rows) != mostRows {
		t.Fatalf("%d tables: %.300s", len(told.Tables), data)
	}
	if first := told.Tables[0].Rows[0]; first.Name != "r16, MCS" || fmt.Sprint(first.Values) != "[64 0.25 0 0]" {
		t.Errorf("the first lock is %v", first)
	}
	if second := told.Tables[0].Rows[1]; second.Name != "r15, MCS" { // its home tells of a lock, and no other node
		t.Errorf("the second lock is %v", second)
	}
}
