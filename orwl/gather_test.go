package orwl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

// TestGather has nodes tell each other something before a run and behind it, also while one of them fails.
func TestGather(t *testing.T) {
	planned := errors.New("planned")
	for _, when := range []string{"never", "before", "behind"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup
			var errs [3]error
			address := make(chan string, 1)
			run := func(i int, p launch.Place) {
				p.Node, p.Nodes, p.Listen = i, 3, "127.0.0.1:0"
				o := Options{Log: silent, Join: JoinOptions{Place: &p, Lease: time.Minute}}
				errs[i] = Run(t.Context(), o, func(ctx context.Context, rt *Runtime) error {
					if rt.Life() != 1 {
						t.Errorf("life %d", rt.Life())
					}
					for _, now := range []string{"before", "behind"} {
						if i == 1 && now == when {
							return planned
						}
						texts, err := rt.Gather(ctx, "who", fmt.Append(nil, now, i))
						if err != nil {
							return err
						}
						for node, text := range texts {
							if want := fmt.Sprint(now, node); string(text) != want {
								t.Errorf("%q, want %q", text, want)
							}
						}
						if now == "before" {
							r := rt.Resource("r", 8)
							for node := range 3 {
								task := rt.Task(fmt.Sprint("t", node)).On(node)
								task.Write(r)
								task.Each(2, func(int) error { return nil })
							}
							if err := rt.Run(ctx); err != nil {
								return err
							}
							if c := rt.Counts(); c.Received == 0 {
								t.Errorf("%+v", c)
							}
						}
					}
					return nil
				})
			}
			all.Go(func() { run(0, launch.Place{Report: func(a string) error { address <- a; return nil }}) })
			root := <-address
			for i := 1; i < 3; i++ {
				all.Go(func() { run(i, launch.Place{Root: root}) })
			}
			all.Wait()
			for i, err := range errs {
				var other *NodeError
				switch {
				case when == "never":
					if err != nil {
						t.Error(err)
					}
				case i == 1:
					if !errors.Is(err, planned) {
						t.Errorf("node 1: %v", err)
					}
				case !errors.As(err, &other) || other.Node != 1 || other.Lost:
					t.Errorf("node %d: %v", i, err)
				}
			}
		})
	}
}
