package table

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
)

func init() {
	actors["member"] = func() int {
		if err := member(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

// member is a node of a table that does nothing but be there, until its input ends.
func member(root string) error {
	nodes, err := orwl.Join(background, orwl.JoinOptions{Log: silent, Lease: unhurried, Place: &launch.Place{Node: 1, Nodes: 2, Listen: "127.0.0.1:0", Root: root}})
	if err != nil {
		return err
	}
	if _, err = NewStrings(background, Options{Nodes: nodes}); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, nodes.Close(background))
}

// unhurried is a lease by which no node is lost by silence: the machine may be busy. A process that
// ends is noticed at once.
const unhurried = time.Minute

// spouse is a node whose other one is another process, which kill ends.
func spouse(t testing.TB, o orwl.JoinOptions) (nodes *orwl.Nodes, ready func(), kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(self)
	other.Stderr = os.Stderr
	in, _ := other.StdinPipe()
	out, _ := other.StdoutPipe()
	o.Log, o.Lease = silent, unhurried
	o.Place = &launch.Place{Nodes: 2, Listen: "127.0.0.1:0", Report: func(address string) error {
		other.Args = append(other.Args, address)
		other.Env = append(os.Environ(), roleVariable+"=member")
		return other.Start()
	}}
	if nodes, err = orwl.Join(background, o); err != nil {
		t.Fatal(err)
	}
	killed := false
	t.Cleanup(func() {
		in.Close()
		if err := nodes.Close(background); err != nil && !killed {
			t.Error(err)
		}
		if err := other.Wait(); err != nil && !killed {
			t.Error(err)
		}
	})
	return nodes, func() { _, _ = bufio.NewReader(out).ReadString('\n') }, func() {
		killed = true
		_ = other.Process.Kill()
	}
}

// TestLoss kills the other node while clients work. Ops on its keys end with an error that
// names it, also those under way; everything else goes on, and nothing is wrong.
func TestLoss(t *testing.T) {
	nodes, ready, kill := spouse(t, orwl.JoinOptions{})
	table := newStrings(t, Options{}, nodes)[0]
	ready()
	const keys = 500
	ops, results := make([]Op, keys), make([]Result, keys)
	for i := range ops {
		key := fmt.Append(nil, "key ", i)
		ops[i] = Op{Kind: Set, Key: key, Value: key}
	}
	table.Do(background, ops, results)
	for i := range ops {
		if results[i].Err != nil {
			t.Fatal(results[i].Err)
		}
		ops[i].Kind, ops[i].Value = Get, nil
	}
	home := func(i int) int { return table.homes[volumeOf(table.o.Hash(ops[i].Key), len(table.homes))] }

	var all sync.WaitGroup
	lost := make(chan struct{})
	for range 3 {
		all.Go(func() { // until all of the other's keys are lost
			for results, over := make([]Result, keys), false; !over; {
				clear(results)
				table.Do(background, ops, results)
				over = true
				for i, r := range results {
					gone := (*NodeLostError)(nil)
					switch {
					case errors.As(r.Err, &gone):
						if home(i) != 1 || gone.Node != 1 {
							t.Errorf("%s, kept by node %d: %v", ops[i].Key, home(i), r.Err)
						}
					case r.Err != nil || string(r.Value) != string(ops[i].Key):
						t.Errorf("%s is %q, %v", ops[i].Key, r.Value, r.Err)
					default:
						over = over && home(i) == 0
					}
				}
			}
		})
	}
	kill()
	go func() { all.Wait(); close(lost) }()
	<-lost

	here := 0
	for i := range ops {
		if home(i) == 0 {
			here++
			if r := table.do(Op{Kind: Append, Key: ops[i].Key, Value: []byte("!")}); r.Err != nil || r.Number != int64(len(ops[i].Key)+1) {
				t.Errorf("%s is changed: %+v", ops[i].Key, r)
			}
		}
	}
	gone := (*NodeLostError)(nil)
	volumes, err := table.Volumes(background) // those that are left
	if err != nil || len(volumes) == 0 || slices.ContainsFunc(volumes, func(v Volume) bool { return v.Node != 0 }) {
		t.Errorf("%+v, %v", volumes, err)
	}
	if _, err = table.Len(background); !errors.As(err, &gone) {
		t.Errorf("Len: %v", err)
	}
	err = nil
	for cursor, began := uint64(0), false; err == nil && (cursor != 0 || !began); began = true {
		cursor, err = table.Scan(background, cursor, keys, func([]byte) {})
	}
	if !errors.As(err, &gone) {
		t.Errorf("Scan of all volumes: %v", err)
	}
	if here == 0 || here == keys {
		t.Errorf("node 0 has %d of %d keys", here, keys)
	}
}

// TestLossIsMet asks a node that is lost before the table is told.
func TestLossIsMet(t *testing.T) {
	nodes, ready, kill := spouse(t, orwl.JoinOptions{})
	made, met := make(chan *Strings, 1), make(chan error, 1)
	if _, err := nodes.Port(2, orwl.PortOptions{ // is told first
		Take: func(*orwl.Port, int, []byte, []byte) error { return nil },
		Lost: func(int, error) {
			_, err := (<-made).Len(background)
			met <- err
		},
	}); err != nil {
		t.Fatal(err)
	}
	made <- newStrings(t, Options{}, nodes)[0]
	ready()
	kill()
	gone := (*NodeLostError)(nil)
	if err := <-met; !errors.As(err, &gone) || gone.Node != 1 {
		t.Errorf("it ends with %v", err)
	}
}

// TestClose closes the table on one of two nodes. The other one is told, and this one's
// calls end.
func TestClose(t *testing.T) {
	nodes := crew(t, 2)
	tables := newStrings(t, Options{}, nodes...)
	if err := tables[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := tables[1].Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	for i := range 200 {
		err := tables[0].set(fmt.Sprint(i), "v")
		if gone := (*NodeLostError)(nil); err != nil && (!errors.As(err, &gone) || gone.Node != 1 || !errors.Is(err, ErrClosed)) {
			t.Errorf("key %d: %v", i, err)
		}
		if err := tables[1].set(fmt.Sprint(i), "v"); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("key %d, where it was closed: %v", i, err)
		}
	}
	if _, err := tables[0].Len(background); !errors.Is(err, ErrClosed) {
		t.Errorf("Len: %v", err)
	}
}

// TestContext ends the context of a Do, before it begins and while another node has not
// answered.
func TestContext(t *testing.T) {
	nodes := crew(t, 2)
	tables := newStrings(t, Options{Volumes: 8}, nodes...)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(background)
	volume := 0
	for tables[0].homes[volume] != 1 {
		volume++
	}
	in, err := tables[1].volumes[volume].Relaxed(background, 1) // no caller gets an answer of it
	if err != nil {
		t.Fatal(err)
	}
	key := 0
	for volumeOf(defaultHash(fmt.Append(nil, key)), 8) != volume {
		key++
	}
	ops, results := []Op{{Kind: Get, Key: fmt.Append(nil, key)}}, make([]Result, 1)
	done := make(chan struct{})
	go func() {
		tables[0].Do(ctx, ops, results)
		close(done)
	}()
	cancel(stop)
	<-done
	if !errors.Is(results[0].Err, stop) {
		t.Errorf("it ends with %v", results[0].Err)
	}
	later := []Op{{Kind: Set, Key: ops[0].Key, Value: []byte("v")}}
	tables[0].Do(ctx, later, results)
	if !errors.Is(results[0].Err, stop) {
		t.Errorf("one that comes later ends with %v", results[0].Err)
	}
	in.Leave()
	if _, found, err := tables[0].get(string(ops[0].Key)); found || err != nil {
		t.Errorf("and then: %v, %v", found, err) // nothing of the later one was done
	}
}

// TestOtherOptions makes tables that are not the same.
func TestOtherOptions(t *testing.T) {
	nodes := crew(t, 2)
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			_, err := NewStrings(background, Options{Nodes: n, Volumes: 4 + i})
			if err == nil || !strings.Contains(err.Error(), "same options") {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if _, err := NewStrings(background, Options{Nodes: nodes[0], Volumes: 4}); err == nil || !strings.Contains(err.Error(), "port 0") {
		t.Errorf("a second table on one port: %v", err)
	}
}

// TestLargeMessages asks for more than a message holds, there and back.
func TestLargeMessages(t *testing.T) {
	nodes := crew(t, 2)
	table := newStrings(t, Options{}, nodes...)[0]
	value := strings.Repeat("v", 300<<10)
	ops := make([]Op, 60)
	for i := range ops {
		ops[i] = Op{Kind: Set, Key: fmt.Append(nil, i), Value: []byte(value)}
	}
	results := make([]Result, len(ops))
	table.Do(background, ops, results)
	for i := range ops {
		if results[i].Err != nil {
			t.Fatal(results[i].Err)
		}
		ops[i].Kind, ops[i].Value = Get, nil
	}
	table.Do(background, ops, results)
	for i, r := range results {
		if r.Err != nil || string(r.Value) != value {
			t.Errorf("key %d: %d bytes, %v", i, len(r.Value), r.Err)
		}
	}
	many := make([]Op, 3*mostOps)
	for i := range many {
		many[i] = Op{Kind: Add, Key: []byte("counter " + fmt.Sprint(i%3)), Number: 1}
	}
	results = make([]Result, len(many))
	table.Do(background, many, results)
	for i, r := range results {
		if r.Err != nil || r.Number != int64(i/3+1) {
			t.Fatalf("op %d: %+v, want %d", i, r, i/3+1)
		}
	}
}

// TestSmallLastAnswer has several answers. The last one is small, and overtakes the large ones.
func TestSmallLastAnswer(t *testing.T) {
	nodes := crew(t, 2)
	table := newStrings(t, Options{Volumes: 8}, nodes...)[0]
	large, small := strings.Repeat("l", mostMessage-50), strings.Repeat("s", 100)
	var ops []Op
	for i := 0; len(ops) < 4; i++ {
		key := fmt.Append(nil, i)
		if table.homes[volumeOf(defaultHash(key), 8)] == 1 {
			ops = append(ops, Op{Kind: Set, Key: key, Value: []byte(large)})
		}
	}
	ops[3].Value = []byte(small)
	results := make([]Result, len(ops))
	table.Do(background, ops, results)
	for i := range ops {
		ops[i].Kind = Get
	}
	for range rings.Sampling(20, 4) {
		table.Do(background, ops, results)
		for i, r := range results {
			if r.Err != nil || string(r.Value) != string(ops[i].Value) {
				t.Fatalf("value %d has %d bytes, want %d; %v", i, len(r.Value), len(ops[i].Value), r.Err)
			}
			results[i].Value = r.Value[:0]
		}
	}
}

// TestTransfer lets many goroutines ask one node for little. They share messages, each gets its
// own results, and a caller that stops waiting harms no other.
func TestTransfer(t *testing.T) {
	nodes := crew(t, 2)
	table := newStrings(t, Options{Volumes: 8}, nodes...)[0]
	const clients, each = 50, 200
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			ops, results := make([]Op, 4), make([]Result, 4)
			for i := range each {
				ctx, cancel := context.WithCancel(background)
				if c%10 == 0 {
					go cancel()
				}
				for k := range ops {
					ops[k] = Op{Kind: Append, Key: fmt.Append(nil, c, " ", k), Value: []byte{byte(i)}}
				}
				table.Do(ctx, ops, results)
				for k, r := range results {
					lost := ctx.Err() != nil && errors.Is(r.Err, ctx.Err())
					if r.Err == nil && r.Number > int64(i)+1 || r.Err == nil && c%10 != 0 && r.Number != int64(i)+1 || r.Err != nil && !lost {
						t.Errorf("client %d, key %d: %d bytes after %d appends, %v", c, k, r.Number, i+1, r.Err)
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	f := table.others.transfers[1]
	for away := true; away; { // answers without a caller come back, too
		f.mu.Lock()
		away = f.away
		f.mu.Unlock()
		runtime.Gosched()
	}
}
