package main

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// TestHitAndMiss reads a frontier twice: first when it has been there for long,
// then when its writer waits until the reader has found nothing.
func TestHitAndMiss(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(times ...time.Duration) func() time.Duration {
		return func() time.Duration {
			now := times[0]
			times = times[1:]
			return now
		}
	}
	written, missed := make(chan bool), make(chan bool)
	f := &frontier{Resource: rt.Resource("frontier", 8)}
	b := &block{extent: extent{rows: 1, cols: 1}}
	b.planes[planeData] = newMatrix(3, 3)

	writer := actor{Task: rt.Task("writer")}
	out := outlet{Access: writer.Write(f.Resource), to: f, of: b.edge(south)}
	writer.Do(func(*orwl.Task) error {
		return writer.rounds(2, func(k int) error {
			if k == 1 {
				<-missed
			}
			writer.watch.enter(exporting)
			err := writer.write(b, &out, writer.watch.since)
			if k == 0 {
				close(written)
			}
			writer.watch.enter(outside)
			return err
		})
	})
	writer.watch.clock = at(10, 20, 70, 75)

	reader := actor{Task: rt.Task("reader")}
	in := inlet{Access: reader.Read(f.Resource), from: f, into: b.border(north)}
	reader.Do(func(*orwl.Task) error {
		<-written
		return reader.rounds(2, func(k int) error {
			reader.watch.enter(importing)
			if err := reader.read(b, &in); err != nil {
				return err
			}
			reader.watch.enter(computing)
			if reader.Hits != 1 {
				t.Errorf("after round %d there are %d hits, want 1", k, reader.Hits)
			}
			return nil
		})
	})
	times := at(5, 35, 40, 50, 80, 85, 90)
	reader.watch.clock = func() time.Duration {
		now := times()
		if now == 50 { // it begins to wait
			close(missed)
		}
		return now
	}

	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The first time, the frontier was asked for at 5 or later. The second time it was
	// announced at 5 and asked for at 40.
	if got, want := reader.tally, (tally{Reads: 2, Bytes: 16, Hits: 1, Hidden: 40}); got != want {
		t.Errorf("the reader counts %+v, want %+v", got, want)
	}
	reader.watch.stop(100)
	if got, want := reader.watch.spent, [phases]time.Duration{outside: 5 + 10, waiting: 30, importing: 30 + 10 + 5, computing: 5 + 5}; got != want {
		t.Errorf("the reader's phases took %v, want %v", got, want)
	}
}
