package metrics

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/orwl"
)

// Profiles show a task's goroutine by the task's name, and with Options.Profile by the
// resource that it waits for.
func TestProfile(t *testing.T) {
	for _, profile := range []bool{false, true} {
		m, registry := made(t, Options{Profile: profile})
		rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}, Stall: -1})
		if err != nil {
			t.Fatal(err)
		}
		r := rt.Resource("the resource", 0)
		works, goOn := make(chan struct{}), make(chan struct{})
		first, second := rt.Task("the first"), rt.Task("the second")
		orwl.Writes[byte](first, r)
		first.Do(func(t *orwl.Task) error {
			for range inner.OfTask(t).Rounds(1) {
				close(works)
				<-goOn
			}
			return nil
		})
		orwl.Writes[byte](second, r)
		second.Do(func(t *orwl.Task) error {
			for range inner.OfTask(t).Rounds(1) {
			}
			return nil
		})
		ended := make(chan error)
		go func() { ended <- rt.Run(context.Background()) }()
		<-works
		for value(t, registry, "orwl_tasks", "state=waiting") == 0 {
			if t.Context().Err() != nil {
				t.Fatal("nobody waits")
			}
		}
		labels := func() string {
			var b bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		waits := `"resource":"the resource", "task":"the second"`
		for got := ""; profile && !strings.Contains(got, waits); got = labels() { // it is about to say so
			if t.Context().Err() != nil {
				t.Fatalf("nobody waits for the resource in %s", got)
			}
		}
		got := labels()
		for _, want := range []string{`"task":"the first"`, `"task":"the second"`} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
		if strings.Contains(got, waits) != profile {
			t.Errorf("with Profile %t: %s", profile, got)
		}
		close(goOn)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}
