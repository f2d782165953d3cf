package orwl

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/internal/linked"
)

// A program that links no page says so, if one is asked for. One that does gives it the runtime, and ends it.
func TestWatched(t *testing.T) {
	t.Setenv("ORWL_WATCH", "1")
	before := linked.Watch
	defer func() { linked.Watch = before }()
	linked.Watch = nil
	var log bytes.Buffer
	o := Options{Log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := mustNew(t, o).Close(); err != nil || !strings.Contains(log.String(), "orwl/watch") {
		t.Errorf("%v, %s", err, log.String())
	}
	var given linked.Watched
	ended := 0
	linked.Watch = func(w linked.Watched) func() {
		given = w
		return func() { ended++ }
	}
	rt := mustNew(t, o)
	if given.Runtime != any(rt) || given.At != "1" || given.Key || ended > 0 {
		t.Errorf("%+v, ended %d", given, ended)
	}
	if err := rt.Close(); err != nil || ended != 1 {
		t.Errorf("%v, ended %d", err, ended)
	}
	t.Setenv("ORWL_WATCH", "0")
	linked.Watch = func(linked.Watched) func() { t.Error("it is not asked for"); return nil }
	if err := mustNew(t, o).Close(); err != nil {
		t.Error(err)
	}
}
