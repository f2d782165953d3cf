package rendezvous

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
)

// candidate is a host of a user, in the private network of a key.
func candidate(t testing.TB, key []byte) host.Host {
	t.Helper()
	h, err := transport.Candidate(soon(t), key, 8, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// outcome is what has come of a Meet.
type outcome struct {
	seat *Seat
	err  error
}

// meet has so many processes of this key meet, and node 0 report an address.
func meet(t testing.TB, many int, options func(i int) Options) []outcome {
	t.Helper()
	all := make([]outcome, many)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			s, err := Meet(soon(t), options(i))
			if err == nil && s.Root == "" {
				t.Cleanup(s.Close)
				s.Report("0.0.0.0:4711")
			}
			all[i] = outcome{s, err}
		})
	}
	group.Wait()
	return all
}

// checkSeats checks that the processes have the numbers from 0, and that node 0 is found.
func checkSeats(t *testing.T, all []outcome) {
	t.Helper()
	var numbers []int
	for _, o := range all {
		if o.err != nil {
			t.Error(o.err)
			continue
		}
		numbers = append(numbers, o.seat.Number)
		if host, port, err := net.SplitHostPort(o.seat.Root); o.seat.Number > 0 && (err != nil || port != "4711" || net.ParseIP(host).IsUnspecified()) {
			t.Errorf("node %d finds node 0 at %q", o.seat.Number, o.seat.Root)
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i {
			t.Fatalf("numbers %v", numbers)
		}
	}
}

// TestMeet has processes meet by a user's discovery on users' hosts. Another one comes too late.
func TestMeet(t *testing.T) {
	t.Parallel()
	b := new(p2ptest.Board)
	options := func(int) Options {
		h := candidate(t, testKey)
		return Options{Nodes: 4, Key: testKey, Host: h, Discovery: b.For(h)}
	}
	checkSeats(t, meet(t, 4, options))
	if _, err := Meet(soon(t), options(4)); !errors.Is(err, ErrFull) {
		t.Errorf("the fifth of four: %v, want ErrFull", err)
	}
}

// TestMeetLocal has processes meet on this machine's networks.
func TestMeetLocal(t *testing.T) {
	if !multicast(t) {
		if os.Getenv("CI") != "" {
			t.Fatal("no network interface takes multicast")
		}
		t.Skip("no network interface takes multicast")
	}
	checkSeats(t, meet(t, 4, func(int) Options { return Options{Nodes: 4, Key: testKey} }))
}

// multicast reports whether an interface takes multicast.
func multicast(t *testing.T) bool {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(i net.Interface) bool {
		return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0
	})
}

// TestMeetRefused has processes look for a run to which they do not belong.
func TestMeetRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(o *Options)
		want   error
		text   string
	}{
		"another size": {func(o *Options) { o.Nodes = 3 }, ErrRefused, "its run has"},
		"another key":  {func(o *Options) { o.Key = []byte("not the key of this run") }, ErrAlone, "1 came"},
		"alone":        {func(o *Options) { o.Discovery = new(p2ptest.Board).For(o.Host) }, ErrAlone, "of 2 processes with this key, 1 came"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []outcome
			// With much to do, a machine may not have them meet in time.
			for last := time.Second / 2; last < patience; last *= 4 {
				b := new(p2ptest.Board)
				all = meet(t, 2, func(i int) Options {
					h := candidate(t, testKey) // even the stranger's: in the private network it could not say a word
					o := Options{Nodes: 2, Key: testKey, Host: h, Discovery: b.For(h), Patience: last}
					if i == 1 {
						c.change(&o)
						o.Discovery = everywhere{o.Discovery, namespace(testKey)}
					}
					return o
				})
				for _, o := range all {
					if o.err != nil && errors.Is(o.err, c.want) && strings.Contains(o.err.Error(), c.text) {
						return
					}
				}
			}
			t.Errorf("%v and %v, want %v", all[0].err, all[1].err, c.want)
		})
	}
}

// everywhere is a discovery that looks under another name.
type everywhere struct {
	discovery.Discovery
	name string
}

func (e everywhere) Advertise(ctx context.Context, _ string, o ...discovery.Option) (time.Duration, error) {
	return e.Discovery.Advertise(ctx, e.name, o...)
}

func (e everywhere) FindPeers(ctx context.Context, _ string, o ...discovery.Option) (<-chan peer.AddrInfo, error) {
	return e.Discovery.FindPeers(ctx, e.name, o...)
}

// TestOptions refuses options that cannot be meant.
func TestOptions(t *testing.T) {
	good := Options{Nodes: 2, Key: testKey}
	for what, change := range map[string]func(o *Options){
		"Nodes":     func(o *Options) { o.Nodes = 0 },
		"Patience":  func(o *Options) { o.Patience = -1 },
		"Discovery": func(o *Options) { o.Discovery = new(p2ptest.Board).For(nil) },
		"a key":     func(o *Options) { o.Key = nil },
	} {
		o := good
		change(&o)
		if _, err := Meet(t.Context(), o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that hangs. No test depends on it.
const patience = time.Minute

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

var testKey = []byte("a key that nobody else has")
