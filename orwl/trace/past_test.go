package trace

import (
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// A program of many stages leaves a recorder with what it has room for, and the other observers
// with nothing.
func TestManyStages(t *testing.T) {
	recorder, stream, regions := mustRecord(t, Options{Slices: 1000}), mustStream(t, StreamOptions{}), NewRegions()
	reader := stream.Subscribe() // it reads once, in the end
	defer reader.Close()
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{recorder, stream, regions}})
	shared := rt.Resource("shared", 8)
	for range 2_000 {
		for _, name := range []string{"a", "b"} {
			x := rt.Task(name)
			orwl.Writes[byte](x, shared)
			x.Each(2, func(int) error { return nil })
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rt.Task("c").Do(func(*orwl.Task) error { return nil }) // and so the others are forgotten
	if len(recorder.tasks) > 0 || len(stream.tasks) > 0 || len(regions.tasks) > 0 || len(stream.rings) > 0 {
		t.Errorf("%d, %d and %d tasks are followed, with %d rings", len(recorder.tasks), len(stream.tasks), len(regions.tasks), len(stream.rings))
	}
	if tracks := len(recorder.Trace().Tracks); tracks < 10 || tracks > 1001 || recorder.spent > 1000 {
		t.Errorf("%d tracks of %d slices and turns", tracks, recorder.spent)
	}
	if events, lost := reader.Read(nil); len(events) == 0 || lost == 0 {
		t.Errorf("%d events, %d lost", len(events), lost)
	}
}
