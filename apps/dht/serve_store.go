package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/apps/dht/table"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/nodes"
)

// parting is for how long a node waits for the others when it leaves.
const parting = time.Second

// open makes the table, with the other nodes if there are any, and tells how to leave
// it.
func (s *serving) open(ctx context.Context, memory *budget.Budget) (_ *table.Strings, _ *orwl.Nodes, leave func() error, err error) {
	if s.place.Begin > 0 {
		return nil, nil, nil, command.Misusef("ORWL_BEGIN is %d, and the table needs all its %d nodes from the beginning: unset it", s.place.Begin, s.place.Nodes)
	}
	run, err := orwl.Join(ctx, orwl.JoinOptions{
		Place: &s.place, Log: quieter(s.log), Network: nodes.Network{Registerer: s.display.Registerer()},
	})
	if err != nil {
		return nil, nil, nil, err
	}
	depart := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), parting)
		defer cancel()
		if err := run.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil // it does not wait for nodes that go on serving, or are gone
	}
	t, err := table.NewStrings(ctx, table.Options{
		Nodes: run, Volumes: s.volumes, First: s.firstBytes(max(1, s.place.Nodes)), Most: s.volumeBytes(max(1, s.place.Nodes)), Memory: memory, Guard: s.guard, Watch: s.display.watch(),
	})
	if err != nil {
		return nil, nil, nil, errors.Join(err, depart())
	}
	if s.place.GoOn != nil { // a launcher need not end the table when a node is lost
		err = s.place.GoOn()
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, t.Close(), depart())
	}
	return t, run, func() error { return errors.Join(t.Close(), depart()) }, nil
}

// quieter leaves away what nodes say about themselves when all is well.
func quieter(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// warnings is a handler of what is at least a warning.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
