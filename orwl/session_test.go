package orwl

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/session"
)

// TestServe has sessions count beside the tasks of two nodes, in the queue of one resource.
// Nothing is lost, and the other node says where the resource is.
func TestServe(t *testing.T) {
	const rounds, visits = 1000, 50
	nodes := crew(t, 2)
	defer disband(t, nodes)
	var total uint64
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
			if _, err := rt.Served("count"); !errors.Is(err, ErrHome) || !strings.Contains(err.Error(), "not begun") {
				t.Errorf("before Run: %v, want ErrHome", err)
			}
		}
		over := make(chan error, 1)
		go func() { over <- rt.Run(context.Background()) }()
		if i == 0 {
			visit(t, n.Network().Address(), visits)
		} else {
			refused(t, n.Network().Address())
		}
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
	if want := uint64(2*rounds + visits); total != want {
		t.Errorf("counted %d, want %d", total, want)
	}
}

// begun locks as soon as the run has begun.
func begun(t *testing.T, address, name string) (*session.Session, *session.Lock, error) {
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

// refused asks the node that is not the home, and for a name that there is not.
func refused(t *testing.T, address string) {
	s, _, err := begun(t, address, "count")
	if !errors.Is(err, session.ErrUnknown) || !strings.Contains(err.Error(), "the home of \"count\" is node 0") {
		t.Errorf("another node than the home: %v, want ErrUnknown", err)
		return
	}
	if _, err := s.Lock(context.Background(), "other"); !errors.Is(err, session.ErrUnknown) {
		t.Errorf("a name that there is not: %v, want ErrUnknown", err)
	}
}
