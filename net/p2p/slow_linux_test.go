package p2p

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/lease"
)

// logged is a log that tells the test what is said.
type logged chan string

func (l logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logged) WithGroup(string) slog.Handler            { return l }
func (l logged) Handle(_ context.Context, r slog.Record) error {
	l <- r.Message
	return nil
}

// says waits until the log says something that begins so.
func (l logged) says(t *testing.T, beginning string) {
	t.Helper()
	for !strings.HasPrefix(await(t, l, beginning), beginning) {
	}
}

// vouchedFor waits until both nodes have mapped each other's arena, and node 1 is
// vouched for. Every step is a round trip.
func vouchedFor(t *testing.T, n *Node) {
	t.Helper()
	ctx, back := soon(t), make(chan struct{})
	receive(t, n, func(int, []byte, []byte) error { back <- struct{}{}; return nil })
	for p := n.peer(1); ; {
		if _, vouched := p.witness(); vouched && p.promises.Load() {
			return
		}
		if err := errors.Join(ctx.Err(), n.Send(1, 1, nil, nil, false)); err != nil {
			t.Fatalf("node 1 is not vouched for: %v", err)
		}
		await(t, back, "the echo")
	}
}

// TestStarved lets a process live and run nothing, for longer than the lease. If the
// launcher vouches for it, it is slow, and otherwise it is lost.
func TestStarved(t *testing.T) {
	rings.Silence(t)
	for name, launched := range map[string]bool{"vouched for": true, "not vouched for": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := make(logged, 1000)
			n, actors := runWith(t, 1, func(o *Options) { o.Lease, o.Launched, o.Log = hurried, launched, slog.New(log) })
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			lost := n.losses()
			if launched {
				vouchedFor(t, n)
			}
			if err := n.Send(1, 2, []byte(fifo), nil, false); err != nil {
				t.Fatal(err)
			}
			if !launched {
				if err := await(t, lost, "the loss"); !errors.Is(err, errSilent) {
					t.Errorf("lost by %v, want silence", err)
				}
				return
			}
			log.says(t, "node is slow")
			go io.Copy(io.Discard, in)
			log.says(t, "node is back")
			if err := n.Lost(1); err != nil || n.Suspected(1) {
				t.Errorf("node 1 is lost by %v, or suspected: %t", err, n.Suspected(1))
			}
			for len(actors[1].lines) > 0 {
				t.Errorf("node 1 says %q, want nothing", <-actors[1].lines)
			}
		})
	}
}

// TestStoppedOfLauncher stops a process, although its launcher runs, until it is lost. It
// finds out when it goes on.
func TestStoppedOfLauncher(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	n, actors := runWith(t, 1, func(o *Options) { o.Lease, o.Launched = hurried, true })
	lost := n.losses()
	vouchedFor(t, n)
	actors[1].Process.Signal(syscall.SIGSTOP)
	if err := await(t, lost, "the loss"); !errors.Is(err, lease.ErrStopped) {
		t.Errorf("lost by %v, want that it is stopped", err)
	}
	actors[1].Process.Signal(syscall.SIGCONT)
	if strings.HasPrefix(actors[1].says(t, "suspects 0", "lost 0 "), "suspects") {
		actors[1].says(t, "lost 0 ")
	}
}

// TestKilledAtOnce kills a process under a lease that is longer than the test may take.
func TestKilledAtOnce(t *testing.T) {
	t.Parallel()
	for name, launched := range map[string]bool{"vouched for": true, "not vouched for": false} {
		t.Run(name, func(t *testing.T) {
			n, actors := runWith(t, 1, func(o *Options) { o.Launched, o.Lease = launched, 10*patience })
			lost := n.losses()
			if launched {
				vouchedFor(t, n)
			}
			actors[1].Process.Kill()
			if err := await(t, lost, "the loss"); !errors.Is(err, ErrLost) {
				t.Errorf("gone by %v, want ErrLost", err)
			}
		})
	}
}

// TestTell sees that the log says once that a node is slow, and once that it is back.
func TestTell(t *testing.T) {
	log := make(logged, 100)
	h := newHeart(&Node{log: slog.New(log)})
	p, was := &peer{number: 1}, false
	for _, slow := range []bool{false, true, true, true, false, false, true, false} {
		h.tell(p, was, slow, int64(time.Hour))
		was = slow
	}
	for _, want := range []string{"node is slow", "node is back", "node is slow", "node is back"} {
		if got := await(t, log, want); !strings.HasPrefix(got, want) {
			t.Errorf("the log says %q, want %q", got, want)
		}
	}
	if len(log) > 0 {
		t.Errorf("the log says %q, too", <-log)
	}
}

// TestKept lets a node wait for echoes for an hour of virtual time. It keeps what its
// home has lent to it until the home gives it notice.
func TestKept(t *testing.T) {
	nodes := run(t, 2, func(o *Options) { o.Remote, o.Launched = false, true })
	if err := nodes[1].Receive(1, Receiver{Take: func(from int, header, bulk []byte) error {
		return nodes[1].Send(from, 1, header, bulk, false)
	}}); err != nil {
		t.Fatal(err)
	}
	vouchedFor(t, nodes[0])
	suspected := make(chan int, 10)
	nodes[0].OnSuspect(func(peer int) { suspected <- peer })
	home, later := nodes[0].peer(1), nodes[0].now()+int64(time.Hour)
	nodes[0].heart.holder(home, later)
	if !home.kept() || home.doubted.Load() {
		t.Error("a home that has given no notice is suspected")
	}
	nodes[1].memory.Arena().Notify(0, true)
	nodes[0].heart.holder(home, later)
	if peer := await(t, suspected, "the suspicion"); peer != 1 || home.kept() {
		t.Errorf("node %d is suspected, want 1, and it keeps node 0: %t", peer, home.kept())
	}
}

// TestKeptByPromise maps the arena of a home that has promised nothing. A holder must not
// conclude anything from a notice that is missing there.
func TestKeptByPromise(t *testing.T) {
	if nodes := neighbours(t, 2, nil); nodes[0].peer(1).mapping.Load() == nil || nodes[0].peer(1).kept() {
		t.Error("node 0 counts on a notice that nobody has promised")
	}
}

// TestVerdict sees that a node that cannot be reached for long is lost, unless the
// launcher vouches for it.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for name, launched := range map[string]bool{"vouched for": true, "not vouched for": false} {
		t.Run(name, func(t *testing.T) {
			n, _ := runWith(t, 1, func(o *Options) { o.Launched, o.Lease = launched, unhurried })
			if launched {
				vouchedFor(t, n)
			}
			var d dialogue
			err := d.verdict(n.peer(1), context.DeadlineExceeded, 2*n.options.JoinTimeout)
			if errors.Is(err, errNobody) == launched {
				t.Errorf("given up by %v", err)
			}
		})
	}
}
