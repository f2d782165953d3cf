package orwl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// The test binary is also a node of a test: it finds its part in its environment,
// takes commands from standard input, and writes notes to standard output.
const partVariable = "ORWL_TEST_PART"

// part is the role of a process.
type part struct {
	Play        string // clients or ring
	Node, Nodes int
	Root        string
	Listen      string // an address of its host; empty: all nodes are on this one
	Seed        uint64
	Lease       time.Duration
}

// note is something that a node tells the test. Times are of a clock that is the same
// in all processes of a machine.
type note struct {
	What    string // address, round, call, held, done, lost, ended
	At      int64
	Text    string   `json:",omitempty"` // an address, an error
	Verdict verdict  `json:",omitempty"` // on an error
	Node    int      `json:",omitempty"` // the node that an error names, or that is lost
	Op      uint64   `json:",omitempty"`
	Actor   bool     `json:",omitempty"` // by command
	At0     int      `json:",omitempty"` // the resource
	Mode    uint8    `json:",omitempty"`
	Token   uint64   `json:",omitempty"` // the token that is written
	Seen    *sighted `json:",omitempty"`
}

// sighted is what an access found.
type sighted struct {
	Value, Version, Fence uint64
	Prior                 bool // a writer before was lost
}

// verdict is which kind of error ended an access.
type verdict string

const (
	served   verdict = ""
	toldLost verdict = "lost" // the access was lost, and the error says so
	runOver  verdict = "over"
	wrong    verdict = "wrong" // no access may end so
)

func judge(err error) verdict {
	switch {
	case err == nil:
		return served
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrEnded), errors.Is(err, queue.ErrStale):
		return toldLost
	case errors.Is(err, context.Canceled):
		return runOver
	}
	return wrong
}

// clock is the same in all processes.
func clock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// actor is a process that plays a part.
type actor struct {
	part
	mu  sync.Mutex
	out *json.Encoder

	r        []*resource.Resource
	ops      atomic.Uint64
	stopping chan struct{}
	letGo    chan struct{} // taken by an actor's access that is to end
	commands chan string
}

// chaosSizes are the sizes of a crew's resources. Each node is the home of one. The
// larger ones use the lane for data.
var chaosSizes = []int{8, 32 << 10, 512}

func play(text string) int {
	a := &actor{stopping: make(chan struct{}), letGo: make(chan struct{}), commands: make(chan string, 16), out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &a.part); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err := a.join()
	last := note{What: "ended", Verdict: judge(err)}
	if err != nil {
		last.Text = err.Error()
	}
	if e := (*NodeError)(nil); errors.As(err, &e) {
		last.Node = e.Node
	}
	if a.Play == "ring" {
		if leak := goleak.Find(); leak != nil {
			last.Verdict, last.Text = wrong, leak.Error()
		}
	}
	a.tell(last)
	return 0
}

func (a *actor) tell(n note) {
	n.At = clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.out.Encode(n) // a test that is over does not listen
}

const (
	// unhurried is a lease for tests that are not about silence. A busy machine exceeds it never.
	unhurried = time.Minute
	// quiet is a lease for tests of silence. It is over after a test has waited some seconds, and
	// a busy machine does not exceed it.
	quiet = 5 * time.Second
)

// Write gets a line of the log. It tells the test which node is lost.
func (a *actor) Write(line []byte) (int, error) {
	if _, rest, found := strings.Cut(string(line), `msg="node lost"`); found {
		n := note{What: "lost"}
		_, rest, _ = strings.Cut(rest, " peer=")
		if _, err := fmt.Sscan(rest, &n.Node); err != nil {
			n.Verdict, n.Text = wrong, string(line)
		}
		a.tell(n)
	}
	return len(line), nil
}

func (a *actor) join() error {
	ctx := context.Background()
	place := launch.Place{Node: a.Node, Nodes: a.Nodes, Root: a.Root, Listen: "127.0.0.1:0", Report: func(address string) error {
		a.tell(note{What: "address", Text: address})
		return nil
	}}
	apart := a.Listen != ""
	if apart {
		place.Listen, place.Key = a.Listen, []byte("a key that only these hosts have")
	}
	nodes, err := Join(ctx, JoinOptions{
		Place: &place, Lease: a.Lease, Log: slog.New(slog.NewTextHandler(a, nil)), Remote: apart,
	})
	if err != nil {
		return err
	}
	rt, err := New(Options{Nodes: nodes, Log: silent})
	if err != nil {
		return err
	}
	for i, size := range chaosSizes[:a.Nodes] {
		a.r = append(a.r, rt.Resource(name(i), size))
		rt.Home(a.r[i], i)
	}
	if a.Play == "ring" {
		a.ring(rt)
	} else {
		a.clients(rt)
	}
	err = rt.Run(ctx)
	return errors.Join(err, nodes.Close(ctx))
}

// ring is a program of tasks that go round for ever.
func (a *actor) ring(rt *Runtime) {
	for i := range a.Nodes {
		t := rt.Task(name(i)).On(i)
		own, next := t.Write(a.r[i]), t.Read(a.r[(i+1)%a.Nodes])
		t.Each(-1, func(round int) error {
			Write[uint64](own)[0] += Read[uint64](next).At(0)
			if round == 20 {
				a.tell(note{What: "round"})
			}
			return nil
		})
	}
}
