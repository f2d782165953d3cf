package orwl_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/orwl"
)

// TestSnapshots takes snapshots of a resource while two tasks write it, through each
// lock that can be the guard. The two words of the resource are the same between two
// writes.
func TestSnapshots(t *testing.T) {
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) { snapshots(t, spec.Name) })
	}
	if _, err := orwl.New(orwl.Options{Guard: "MCS"}); err == nil {
		t.Error("a lock without readers was accepted as a guard")
	}
}

func snapshots(t *testing.T, guard string) {
	const rounds = 500
	rt, err := orwl.New(orwl.Options{Guard: guard, TL: 3})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Resource("twice", 16)
	for _, name := range []string{"a", "b"} {
		task := rt.Task(name)
		a := task.Write(r)
		task.Do(func(task *orwl.Task) error {
			for range task.Rounds(rounds) {
				twice := orwl.Write[uint64](a)
				twice[0]++
				twice[1]++
			}
			return nil
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	looked := make(chan error)
	go func() {
		var last uint64
		for {
			b, version, err := r.Snapshot(ctx, nil)
			if err != nil {
				looked <- err
				return
			}
			x, y := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
			if x != y || x != version || version < last {
				t.Errorf("version %d after %d shows %d and %d", version, last, x, y)
			}
			if last = version; last == 2*rounds {
				looked <- nil
				return
			}
		}
	}()
	if err := rt.Run(ctx); err != nil {
		t.Error(err)
	}
	if err := <-looked; err != nil {
		t.Error(err)
	}
	cancel()
}
