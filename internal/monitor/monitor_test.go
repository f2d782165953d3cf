package monitor

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
)

// shows is a monitor at a free port.
func shows(t *testing.T, o Options) *Monitor {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // no reader
	return e
}

// page reads a page.
func page(t *testing.T, e *Monitor, path string) (status int, text string) {
	t.Helper()
	r, err := http.Get("http://" + e.Address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// A program without a runtime says itself if it is ready, and shows no state.
func TestReady(t *testing.T) {
	why := errors.New("not yet")
	e := shows(t, Options{Place: launch.Place{Nodes: 1}, Ready: func() error { return why }})
	if status, text := page(t, e, "/readyz"); status != 503 || !strings.Contains(text, "not yet") {
		t.Errorf("%d, %q", status, text)
	}
	if status, _ := page(t, e, "/debug/orwl"); status != 404 {
		t.Errorf("the state: %d", status)
	}
	e = shows(t, Options{Place: launch.Place{Nodes: 1}})
	if status, text := page(t, e, "/debug/orwl"); status != 200 || text != "null\n" {
		t.Errorf("the state before the run: %d, %q", status, text)
	}
}

// TestRemains waits for a reader, for a while, or until it is asked to stop: each in a world
// in which nothing else would end it.
func TestRemains(t *testing.T) {
	e := shows(t, Options{Place: launch.Place{Nodes: 1}})
	remains := func(ctx context.Context, linger time.Duration) <-chan struct{} {
		ended := make(chan struct{})
		go func() { defer close(ended); e.Remain(ctx, linger) }()
		return ended
	}
	page(t, e, "/metrics") // before the end: it does not count
	ended := remains(t.Context(), time.Hour)
	select {
	case <-ended:
		t.Fatal("has not waited for a reader")
	default:
	}
	for read := false; !read; { // until a reading falls after the beginning
		page(t, e, "/metrics")
		select {
		case <-ended:
			read = true
		default:
		}
	}
	<-remains(t.Context(), time.Nanosecond)
	<-remains(t.Context(), 0)
	ctx, stop := context.WithCancel(t.Context())
	ended = remains(ctx, time.Hour)
	stop()
	<-ended
	(*Monitor)(nil).Remain(t.Context(), time.Hour)
}

// TestShowsNoKey looks at each page of a run that has a key.
func TestShowsNoKey(t *testing.T) {
	key := launch.NewKey()
	e := shows(t, Options{Place: launch.Place{Nodes: 2, How: launch.Environment, Key: key}})
	rt, err := orwl.New(orwl.Options{Observers: e.Observers()})
	if err != nil {
		t.Fatal(err)
	}
	rt.Task("t").Each(1, func(int) error { return nil })
	e.Watch(rt)
	for path, says := range map[string]string{"/": "<title>ORWL run</title>", "/watch/why": "no task runs", "/debug/orwl": `"task": "t"`, "/metrics": "orwl_info"} {
		status, text := page(t, e, path)
		if status != 200 || !strings.Contains(text, says) {
			t.Errorf("%s: %d %.100s", path, status, text)
		}
		if strings.Contains(text, hex.EncodeToString(key)) || strings.Contains(text, string(key)) {
			t.Errorf("%s shows the key", path)
		}
	}
}

// TestKey listens beyond loopback only with a key from the user.
func TestKey(t *testing.T) {
	key := launch.NewKey()
	for _, c := range []struct {
		place   launch.Place
		refused bool
	}{
		{launch.Place{Nodes: 1, How: launch.Alone}, true},
		{launch.Place{Nodes: 2, How: launch.Environment}, true},
		{launch.Place{Nodes: 2, How: launch.Environment, Key: key}, false},
		{launch.Place{Nodes: 2, How: launch.Spawned, Key: key}, true},
	} {
		for _, address := range []string{"0.0.0.0:0", "[::]:0"} {
			e, err := New(Options{Address: address, Place: c.place})
			if errors.Is(err, metrics.ErrNoKey) != c.refused || err != nil != c.refused {
				t.Errorf("%v, at %s: %v, want refused %v", c.place, address, err, c.refused)
			}
			if e != nil {
				_ = e.Close() // no reader
			}
		}
	}
	if err := Try("0.0.0.0:0", 2); !errors.Is(err, metrics.ErrNoKey) {
		t.Errorf("nodes that are to be started: %v, want ErrNoKey", err)
	}
	if e := shows(t, Options{Address: ":0", Place: launch.Place{Nodes: 1}}); !strings.HasPrefix(e.Address(), "127.0.0.1:") {
		t.Errorf("without a host it listens at %s", e.Address())
	}
}
