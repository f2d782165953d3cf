package orwl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/session"
)

// homes is a run of two nodes that goes on without either. Node i is the home of resource i, and
// a task there holds up the run until ctx ends. lease is the sessions' lease. said is
// told the address when the run serves.
func homes(ctx context.Context, p launch.Place, lease time.Duration, said func(address string)) error {
	p.Listen = "127.0.0.1:0"
	n, err := Join(ctx, JoinOptions{Place: &p, Lease: unhurried, Log: silent})
	if err != nil {
		return err
	}
	rt, err := New(Options{Nodes: n, Log: silent, atLoss: goOn})
	if err != nil {
		return err
	}
	began := make(chan struct{})
	for i := range 2 {
		rt.Home(rt.Resource(fmt.Sprint(i), 8), i)
		own := rt.Resource(fmt.Sprintf("own %d", i), 8)
		rt.Home(own, i)
		rt.Task(fmt.Sprintf("task %d", i)).On(i).Do(func(t *Task) error {
			return queue.Section(t.Context(), core(own), queue.Write, func(*queue.Place) error {
				close(began)
				<-t.Context().Done()
				return nil
			})
		})
	}
	server, err := session.Serve(ctx, rt, session.ServerOptions{Lease: lease})
	if err != nil {
		return err
	}
	go func() {
		<-began
		said(n.Network().Address())
	}()
	_ = rt.Run(ctx) // it ends by ctx
	return errors.Join(server.Close(context.Background()), n.Close(context.Background()))
}

func init() {
	actors["homes"] = func() int {
		err := homes(context.Background(), launch.Place{Node: 1, Nodes: 2, Root: os.Args[1]}, quiet, func(a string) { fmt.Println(a) })
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
}

// TestSessionOutlives kills a node. One session came by it, and holds a lock there and one at the
// other node. It keeps the second one, and can lock there again. Another session waits at the
// node that is killed, and is told when its lease there is over.
func TestSessionOutlives(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	root, here, over := make(chan string, 1), make(chan string, 1), make(chan error, 1)
	go func() {
		p := launch.Place{Nodes: 2, Report: func(a string) error { root <- a; return nil }}
		over <- homes(ctx, p, unhurried, func(a string) { here <- a })
	}()
	other := exec.Command(os.Args[0], <-root)
	other.Env = append(os.Environ(), roleVariable+"=homes")
	other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	there, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	a, b := listener(t, strings.TrimSpace(there)), listener(t, <-here)
	stays, goes := holds(t, a, "0"), holds(t, a, "1")
	waited := make(chan error, 1)
	go func() {
		_, err := b.Lock(ctx, "1")
		waited <- err
	}()
	for state, err := range b.Watch(ctx, "1") {
		if err != nil || state.Length == 2 {
			break
		}
	}
	states, err := b.List(ctx, "")
	var listed []string
	for _, state := range states {
		listed = append(listed, fmt.Sprintf("%s: %d, node %d", state.Name, state.Length, state.Requests[0].Node))
	}
	if want := "[0: 1, node 0 1: 2, node 0]"; err != nil || fmt.Sprint(listed) != want {
		t.Errorf("the list of both nodes is %v, want %s: %v", listed, want, err)
	}
	if err := errors.Join(stays.Write(ctx, []byte("8 bytes.")), other.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	<-goes.Context().Done()
	if why := context.Cause(goes.Context()); !errors.Is(why, session.ErrLost) {
		t.Errorf("the lock at the lost node ends by %v, want ErrLost", why)
	}
	if err := <-waited; !errors.Is(err, session.ErrOver) && !errors.Is(err, session.ErrBroken) {
		t.Errorf("the one that waits there: %v, want errOver or ErrBroken", err)
	}
	if err := stays.Unlock(ctx); err != nil {
		t.Errorf("the lock at the other node: %v", err)
	}
	if l := holds(t, b, "0"); l.Fence() <= stays.Fence() || l.Version() != 1 {
		t.Errorf("fence %d after %d, and version %d, want 1", l.Fence(), stays.Fence(), l.Version())
	} else if err := l.Unlock(ctx); err != nil {
		t.Error(err)
	}
	holds(t, a, "0")
	for err = nil; !errors.Is(err, session.ErrBroken); {
		if _, err = a.Lock(ctx, "1"); err == nil {
			t.Fatal("a lock of a lost node is granted")
		}
	}
	if err := errors.Join(a.Err(), b.Err()); err != nil {
		t.Errorf("a session is over: %v", err)
	}
	cancel()
	if err := <-over; err != nil {
		t.Log(err) // of the lost node
	}
}

func holds(t *testing.T, s *session.Session, name string) *session.Lock {
	t.Helper()
	l, err := s.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
