package p2p

import (
	"context"
	"errors"
	"testing"
)

func TestProbe(t *testing.T) {
	nodes := run(t, 2, nil)
	for _, o := range []ProbeOptions{
		{There: 1, Back: 1, Rounds: 3},
		{There: 32, Back: 32, Rounds: 3},
		{There: 1, Back: 3 << 20, Rounds: 2, Bulk: true},
		{There: 3 << 20, Back: 1, Rounds: 2, Bulk: true},
	} {
		if took, err := nodes[0].Probe(soon(t), 1, o); err != nil || took <= 0 {
			t.Errorf("%+v: %v, %v", o, took, err)
		}
	}
	for _, o := range []ProbeOptions{{}, {There: 1, Rounds: 1}, {There: 1, Back: 1}, {There: mostProbed + 1, Back: 1, Rounds: 1}} {
		if _, err := nodes[0].Probe(soon(t), 1, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := nodes[0].Probe(soon(t), 0, ProbeOptions{There: 1, Back: 1, Rounds: 1}); err == nil {
		t.Error("a node probes itself")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNobody)
	if _, err := nodes[0].Probe(ctx, 1, ProbeOptions{There: 1, Back: 1, Rounds: 1}); !errors.Is(err, errNobody) {
		t.Errorf("a probe whose context is done: %v", err)
	}
}
