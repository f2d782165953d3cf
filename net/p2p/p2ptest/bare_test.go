package p2ptest

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBare plays rounds of all kinds between two bare hosts.
func TestBare(t *testing.T) {
	var hosts [2]*Bare
	for i := range hosts {
		var err error
		if hosts[i], err = NewBare(t.Context(), nil, i, len(hosts)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := hosts[i].Close(); err != nil {
				t.Error(err)
			}
		})
	}
	play := func(ctx context.Context, r Rounds) error {
		took, err := hosts[0].Measure(ctx, 1, hosts[1].Address, r)
		if err == nil && took <= 0 {
			t.Errorf("%+v: a round takes %v", r, took)
		}
		return err
	}
	for _, r := range []Rounds{
		{There: 1, Back: 1, Count: 3},
		{There: 32, Back: 32, Count: 3},
		{There: 1, Back: 3 << 20, Count: 2, Bulk: true},
		{There: 3 << 20, Back: 1, Count: 2, Bulk: true},
	} {
		if err := play(t.Context(), r); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, r := range []Rounds{{}, {There: 1, Count: 1}, {There: 1, Back: 1}, {There: mostBytes + 1, Back: 1, Count: 1}} {
		if play(t.Context(), r) == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	// A measurement that is stopped ends, whatever the other side does.
	why := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	if err := play(ctx, Rounds{There: 1, Back: 1, Count: 1 << 30}); !errors.Is(err, why) {
		t.Errorf("a measurement that was stopped: %v", err)
	}
}
