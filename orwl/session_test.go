package orwl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/orwl/session"
)

// TestServe has sessions count beside the tasks of two nodes, in the queue of one resource. One
// comes by the home, one by the other node, which sends it there. Nothing is lost.
func TestServe(t *testing.T) {
	const rounds, visits = 1000, 50
	nodes := crew(t, 2)
	defer disband(t, nodes)
	var total uint64
	var visited sync.WaitGroup
	visited.Add(len(nodes))
	each(nodes, func(i int, n *Nodes) {
		rt, err := New(Options{Nodes: n, Log: silent})
		if err != nil {
			t.Error(err)
			return
		}
		count := rt.Resource("count", 8)
		rt.Home(count, 0)
		for node, name := range []string{"a", "b"} {
			task := rt.Task(name).On(node)
			w := task.Write(count)
			task.Do(func(t *Task) error {
				for range t.Rounds(rounds) {
					Write[uint64](w)[0]++
				}
				return nil
			})
		}
		server, err := session.Serve(context.Background(), rt, session.ServerOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close(context.Background())
		if i == 0 {
			if _, err := (innerRuntime{rt}).Served("count"); !errors.Is(err, errHome) || !strings.Contains(err.Error(), "not begun") {
				t.Errorf("before Run: %v, want errHome", err)
			}
		}
		over := make(chan error, 1)
		go func() { over <- rt.Run(context.Background()) }()
		visit(t, n.Network().Address(), visits)
		unknown(t, n.Network().Address())
		visited.Done()
		visited.Wait() // before this node's server is closed
		if err := <-over; err != nil {
			t.Error(err)
		}
		if i == 0 {
			v, err := Values[uint64](context.Background(), count)
			if err != nil {
				t.Error(err)
				return
			}
			total = v[0]
		}
	})
	if want := uint64(2*rounds + 2*visits); total != want {
		t.Errorf("counted %d, want %d", total, want)
	}
}

// TestServeList lists tasks and sessions in the order of their queue.
func TestServeList(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	goOn := make(chan struct{})
	for _, name := range []string{"a", "b"} {
		task := rt.Task(name)
		w := task.Write(r)
		task.Do(func(t *Task) error {
			if err := w.Acquire(t.Context()); err != nil {
				return err
			}
			<-goOn
			return w.Release()
		})
	}
	server, err := session.Serve(t.Context(), rt, session.ServerOptions{Listen: "127.0.0.1:0", Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.Background())
	over := make(chan error, 1)
	go func() { over <- rt.Run(context.Background()) }()
	got := make(chan error, 1)
	s := listener(t, server.Address())
	go func() {
		_, _, err := begun(t, server.Address(), "r")
		got <- err
	}()
	for held := false; !held; { // until all have requested, and the run has the resource
		states, err := s.List(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if len(states) != 1 || states[0].Length < 3 || !states[0].Requests[0].Held {
			continue
		}
		held = true
		q := states[0].Requests
		if q[0].Who != "a" || q[1].Who != "b" || q[1].Held || q[0].Session+q[1].Session != 0 || q[2].Session == 0 || q[2].Held {
			t.Errorf("the queue is %+v", q)
		}
	}
	close(goOn)
	if err := errors.Join(<-got, <-over); err != nil {
		t.Error(err)
	}
	if c := server.Counts(); c.Sessions != 2 || c.Granted != 1 || c.Held != 1 || c.Waiting != 0 {
		t.Errorf("the server counts %+v", c)
	}
}

// TestServeListOfNodes lists the tasks of all nodes by a session at one of them.
func TestServeListOfNodes(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	goOn := make(chan struct{})
	var serving sync.WaitGroup
	serving.Add(len(nodes))
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		for node := range nodes {
			own := rt.Resource(fmt.Sprint("own ", node), 8)
			rt.Home(own, node)
			task := rt.Task(fmt.Sprint("task ", node)).On(node)
			w := task.Write(own)
			task.Do(func(t *Task) error {
				if err := w.Acquire(t.Context()); err != nil {
					return err
				}
				<-goOn
				return w.Release()
			})
		}
		server, err := session.Serve(t.Context(), rt, session.ServerOptions{Log: silent})
		if err != nil {
			t.Error(err)
		}
		defer server.Close(context.Background())
		over := make(chan error, 1)
		go func() { over <- rt.Run(context.Background()) }()
		serving.Done()
		if serving.Wait(); i == 0 {
			s := listener(t, n.Network().Address())
			const want = "own 0: task 0 holds on node 0, own 1: task 1 holds on node 1"
			for listed := ""; listed != want; {
				states, err := s.List(t.Context(), "own")
				if t.Context().Err() != nil {
					t.Errorf("the list is %q, %v, want %q", listed, err, want)
					break
				}
				var all []string
				for _, state := range states {
					if r := state.Requests[0]; r.Held {
						all = append(all, fmt.Sprintf("%s: %s holds on node %d", state.Name, r.Who, r.Node))
					}
				}
				listed = strings.Join(all, ", ")
			}
			close(goOn)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// listener is a session that only lists.
func listener(t *testing.T, address string) *session.Session {
	t.Helper()
	s, err := session.Dial(t.Context(), session.Options{Addresses: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// begun locks as soon as the run has begun.
func begun(t testing.TB, address, name string) (*session.Session, *session.Lock, error) {
	s, err := session.Dial(context.Background(), session.Options{Addresses: session.Addresses(address)})
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { s.Close() })
	for {
		l, err := s.Lock(context.Background(), name)
		if err == nil || !strings.Contains(err.Error(), "not begun") {
			return s, l, err
		}
	}
}

// visit adds one so many times.
func visit(t *testing.T, address string, visits int) {
	ctx := context.Background()
	s, l, err := begun(t, address, "count")
	for i := 0; err == nil; i++ {
		var b []byte
		if b, err = l.Read(ctx); err != nil {
			break
		}
		b = binary.NativeEndian.AppendUint64(nil, binary.NativeEndian.Uint64(b)+1)
		if err = errors.Join(l.Write(ctx, b), l.Unlock(ctx)); err != nil || i+1 == visits {
			break
		}
		l, err = s.Lock(ctx, "count")
	}
	if err != nil {
		t.Error(err)
	}
}

// unknown asks for a name that there is not.
func unknown(t *testing.T, address string) {
	s, err := session.Dial(context.Background(), session.Options{Addresses: session.Addresses(address)})
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	if _, err := s.Lock(context.Background(), "other"); !errors.Is(err, session.ErrUnknown) {
		t.Errorf("a name that there is not: %v, want ErrUnknown", err)
	}
}

// BenchmarkVisit locks and unlocks a resource with its home on node 0, by a session that has come by
// either node.
func BenchmarkVisit(b *testing.B) {
	nodes := crew(b, 2)
	defer disband(b, nodes)
	ctx, cancel := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	defer runs.Wait()
	defer cancel()
	for _, n := range nodes {
		rt := mustNew(b, Options{Nodes: n, Log: silent})
		rt.Home(rt.Resource("r", 8), 0)
		rt.Task("idle").On(0).Do(func(t *Task) error {
			<-t.Context().Done()
			return nil
		})
		server, err := session.Serve(ctx, rt, session.ServerOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer server.Close(context.Background())
		runs.Go(func() { _ = rt.Run(ctx) })
	}
	for i, n := range nodes {
		b.Run([]string{"home", "other"}[i], func(b *testing.B) {
			s, l, err := begun(b, n.Network().Address(), "r")
			for b.Loop() {
				if err = errors.Join(err, l.Unlock(ctx)); err == nil {
					l, err = s.Lock(ctx, "r")
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			_ = l.Unlock(ctx)
		})
	}
}
