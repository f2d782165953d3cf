package trace

import (
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// A program of many phases leaves a recorder with what it has room for, and the other observers
// with nothing.
func TestManyPhases(t *testing.T) {
	recorder, stream, regions := mustRecord(t, Options{Slices: 1000}), mustStream(t, StreamOptions{}), NewRegions()
	reader := stream.Subscribe() // that reads once, in the end
	defer reader.Close()
	rt := mustNew(t, orwl.Options{Observers: []orwl.Observer{recorder, stream, regions}})
	shared := rt.Resource("shared", 8)
	rt.Task("main").Do(func(main *orwl.Task) error {
		for range 2_000 {
			err := rt.Phase(main.Context(), func(p *orwl.Phase) {
				for _, name := range []string{"a", "b"} {
					x := p.Task(name)
					x.Write(shared)
					x.Each(2, func(int) error { return nil })
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(recorder.tasks) != 1 || len(stream.tasks) != 1 || len(regions.tasks) != 1 || len(stream.rings) != 1 {
		t.Errorf("%d, %d and %d tasks are followed, with %d rings", len(recorder.tasks), len(stream.tasks), len(regions.tasks), len(stream.rings))
	}
	if tracks := len(recorder.Trace().Tracks); tracks < 10 || tracks > 1001 || recorder.spent > 1000 {
		t.Errorf("%d tracks of %d slices and turns", tracks, recorder.spent)
	}
	if events, lost := reader.Read(nil); len(events) == 0 || lost == 0 {
		t.Errorf("%d events, %d lost", len(events), lost)
	}
}
