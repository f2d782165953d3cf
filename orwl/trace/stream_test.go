package trace

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
)

func mustStream(t testing.TB, o StreamOptions) *Stream {
	t.Helper()
	s, err := NewStream(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A subscriber gets every event, in the order of its times. Two get the same, and no event
// comes from before Subscribe or after Close.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustStream(t, StreamOptions{})
		one, two, gone := s.Subscribe(), s.Subscribe(), s.Subscribe()
		gone.Close()
		gone.Close()
		if err := small(t, mustRecord(t, Options{}), s).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		got, lost := one.Read(nil)
		same, _ := two.Read(nil)
		if lost > 0 || len(got) != len(same) {
			t.Errorf("%d lost; one has %d events, the other %d", lost, len(got), len(same))
		}
		if none, _ := gone.Read(nil); len(none) > 0 {
			t.Errorf("after Close: %v", none)
		}
		count := make(map[Kind]int)
		for i, e := range got {
			count[e.Kind]++
			if i > 0 && e.At < got[i-1].At {
				t.Errorf("%v comes after %v", e, got[i-1])
			}
			if (e.Access == nil) != (e.Kind == Began || e.Kind == Ended) || e.Task == nil {
				t.Errorf("%+v", e)
			}
			if e.Kind == Acquired && e.Fence == 0 {
				t.Errorf("it has no fence: %+v", e)
			}
		}
		// Three tasks of three rounds each; the writer need not wait the first time.
		want := map[Kind]int{Began: 3, Requested: 9, Waiting: 8, Acquired: 9, Releasing: 9, Released: 9, Ended: 3}
		for k := Began; k <= Cancelled; k++ {
			if count[k] != want[k] {
				t.Errorf("%v: %d times, want %d", k, count[k], want[k])
			}
		}
		if more, _ := one.Read(nil); len(more) > 0 {
			t.Errorf("told twice: %v", more)
		}
		one.Close()
		two.Close()
	})
}

// A task does not wait for a subscriber that does not read. The first events stay, and the
// rest is counted.
func TestStreamLoses(t *testing.T) {
	s := mustStream(t, StreamOptions{Room: 8})
	sub := s.Subscribe()
	defer sub.Close()
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{s}})
	task := rt.Task("a")
	orwl.Writes[byte](task, rt.Resource("x", 0))
	task.Do(func(t *orwl.Task) error {
		for range inner.OfTask(t).Rounds(100) {
		}
		return nil
	})
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	// Each round requests, acquires, is about to release, and releases.
	got, lost := sub.Read(nil)
	if len(got) != 8 || lost != 2+100*4-8 || got[0].Kind != Requested || got[1].Kind != Began {
		t.Errorf("%d events and %d lost: %v", len(got), lost, got)
	}
	if _, lost := sub.Read(nil); lost > 0 {
		t.Errorf("%d lost once more", lost)
	}
}

// Without a subscriber nothing is kept. Subscribers may come and go at any time.
func TestStreamWhileItRuns(t *testing.T) {
	s := mustStream(t, StreamOptions{Room: 16})
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{s}})
	r := rt.Resource("x", 0)
	done := make(chan struct{})
	for _, name := range []string{"a", "b"} {
		task := rt.Task(name)
		orwl.Writes[byte](task, r)
		task.Do(func(t *orwl.Task) error {
			for round := range inner.OfTask(t).Rounds(-1) {
				select {
				case <-done:
					if round > 100 {
						return nil
					}
				default:
				}
			}
			return nil
		})
	}
	var all sync.WaitGroup
	all.Go(func() {
		if err := rt.Run(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for range 20 {
		sub := s.Subscribe()
		var seen []Event
		for len(seen) < 50 {
			seen, _ = sub.Read(seen)
		}
		sub.Close()
	}
	close(done)
	all.Wait()
	if got, lost := s.Subscribe().Read(nil); len(got) > 0 || lost > 0 {
		t.Errorf("%d events and %d lost that nobody has subscribed to", len(got), lost)
	}
}

func TestStreamOptions(t *testing.T) {
	for _, bad := range []int{-1, 3, 2 * mostRoom} {
		if _, err := NewStream(StreamOptions{Room: bad}); err == nil || !strings.Contains(err.Error(), "StreamOptions.Room") {
			t.Errorf("room for %d: %v", bad, err)
		}
	}
}

func TestEventText(t *testing.T) {
	rt := mustNew(t, orwl.Options{})
	task := rt.Task("a")
	e := Event{At: 1500 * ms, Kind: Acquired, Task: task, Access: &Access{Resource: "x", Write: true}, Fence: 7}
	text, err := json.Marshal(e)
	const want = `{"seconds":1.5,"event":"acquired","task":"a","node":0,"round":0,"resource":"x","mode":"write","fence":7}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	for k := Began; k <= Cancelled; k++ {
		if name := k.String(); name == "" || name == "none" {
			t.Errorf("%d is %q", k, name)
		}
	}
	if Kind(0).String() != "none" || Kind(200).String() != "none" {
		t.Error("what is no kind has a name")
	}
}
