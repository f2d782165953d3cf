package rendezvous

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
)

// announce has a server be found, until the test ends.
func announce(t *testing.T, w Way) (address string) {
	t.Helper()
	h := w.Host
	if h == nil {
		h = candidate(t, testKey)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- w.Announce(ctx, h, testKey, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	address, err := transport.HostPort(h.Network().ListenAddresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// finds looks until the address is found.
func finds(t *testing.T, w Way, want string) {
	t.Helper()
	for got, err := range w.Find(soon(t), testKey) {
		if err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
	}
}

// TestWay finds a server by a user's discovery. With another key it finds none, and without one
// it looks for none.
func TestWay(t *testing.T) {
	t.Parallel()
	b := new(p2ptest.Board)
	h := candidate(t, testKey)
	finds(t, Way{Discovery: b.For(nil)}, announce(t, Way{Discovery: b.For(h), Host: h}))
	for key, want := range map[string]error{"the key of another run": ErrNobody, "": ErrNoKey} {
		for address, err := range (Way{Discovery: b.For(nil), Patience: time.Millisecond}).Find(soon(t), []byte(key)) {
			if !errors.Is(err, want) {
				t.Errorf("key %q: %q, %v, want %v", key, address, err, want)
			}
		}
	}
	if err := (Way{}).Announce(soon(t), h, nil, nil); !errors.Is(err, ErrNoKey) {
		t.Errorf("%v, want ErrNoKey", err)
	}
}

// TestWayLocal finds a server on this machine's networks.
func TestWayLocal(t *testing.T) {
	if !multicast(t) {
		if os.Getenv("CI") != "" {
			t.Fatal("no network interface takes multicast")
		}
		t.Skip("no network interface takes multicast")
	}
	finds(t, Way{Patience: time.Minute}, announce(t, Way{}))
}
