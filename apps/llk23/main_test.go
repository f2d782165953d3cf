package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil"
)

func TestJSON(t *testing.T) {
	for _, tasks := range []string{"fused", "9"} {
		code, stdout, stderr := program(t, strings.Fields("-init noise -grid 3x1 -block 11x17 -iters 10 -json -tasks "+tasks)...)
		if code != 0 || stderr != "" {
			t.Fatalf("exit code %d, complains %q", code, stderr)
		}
		var got map[string]any
		decoder := json.NewDecoder(strings.NewReader(stdout))
		if err := decoder.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if decoder.More() {
			t.Error("there is more than one object")
		}
		keys := []string{"block", "busy_share", "bytes_shipped", "compute_share", "elements", "grid", "hand_overs", "hidden_seconds", "iters", "kernel",
			"least_wait_share", "lives", "nodes", "ns_per_element", "pace", "prefetch_hits", "processors", "queued_share", "seconds", "sequential_seconds", "sha256", "speed_up",
			"tasks", "verified", "wait_share"}
		if has := slices.Sorted(maps.Keys(got)); !slices.Equal(has, keys) {
			t.Errorf("the object has %v, want %v", has, keys)
		}
		for name, want := range map[string]any{
			"grid": "3x1", "block": "11x17", "elements": 561., "iters": 10., "lives": 1., "nodes": 1.,
			"kernel": "listing", "tasks": tasks, "verified": true, "bytes_shipped": 0.,
			"sha256": "4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648",
		} {
			if got[name] != want {
				t.Errorf("-tasks %s: %s is %v, want %v", tasks, name, got[name], want)
			}
		}
		number := func(name string) float64 {
			n, ok := got[name].(float64)
			if !ok || n < 0 {
				t.Errorf("%s is %v, want a number", name, got[name])
			}
			return n
		}
		seconds, perElement := number("seconds"), number("ns_per_element")
		if want := seconds * 1e9 / 5610; math.Abs(perElement/want-1) > 1e-9 {
			t.Errorf("ns_per_element is %v, want %v", perElement, want)
		}
		if sum := number("compute_share") + number("queued_share") + number("wait_share"); sum > 1+1e-9 {
			t.Errorf("the shares add up to %v", sum)
		}
		if up := number("speed_up"); math.Abs(up*seconds/number("sequential_seconds")-1) > 1e-9 {
			t.Errorf("speed_up is %v", up)
		}
		if hits := number("prefetch_hits"); hits > 40 {
			t.Errorf("%v hits of 40 reads", hits)
		}
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string
	}{
		{"-init noise -grid 3x1 -block 11x17", []string{"Verified, every bit. ", "the sequential sweep took ", "561 elements", "3 blocks of 11x17", "tasks: fused", "2,0", "all",
			"40 frontiers of 5440 bytes", "had come before", "4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648"}},
		{"-init smooth -grid 33x1 -block 1x17 -verify=false", []string{"Not verified, since -verify=false. ", "idlest", "busiest",
			"4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648"}},
		{"-grid 1x1 -block 33x17", []string{"0 frontiers", "there is a processor for each block", "Verified, every bit. "}},
	} {
		code, stdout, stderr := program(t, append(strings.Fields(c.args), "-iters", "10")...)
		if code != 0 || stderr != "" {
			t.Errorf("llk23 %s: exit code %d, complains %q", c.args, code, stderr)
		}
		for _, want := range c.says {
			if !strings.Contains(stdout, want) {
				t.Errorf("llk23 %s: does not say %q:\n%s", c.args, want, stdout)
			}
		}
	}
}

// TestFirstScreen checks the report's first lines for 16 blocks on 2 processors that compute for
// four fifths of the time that is possible.
func TestFirstScreen(t *testing.T) {
	spent := [stencil.Exporting + 1]time.Duration{stencil.Computing: 100, stencil.Queued: 800, stencil.Waiting: 80, stencil.Importing: 20}
	r := &report{shares: make([]share, 16), Processors: 2, LeastWaitShare: 0.875, Seconds: 2, HandOvers: 48, PrefetchHits: 12,
		all:   share{time: 1e-6, account: stencil.Account{Spent: spent, Imports: 48, Bytes: 960, Early: 12, Hidden: 3 * time.Second}},
		Nodes: 1, Iters: 1}
	for n := range r.shares {
		r.shares[n] = share{time: 1e-6, account: stencil.Account{Spent: spent, Hidden: time.Duration(n) * time.Millisecond}}
	}
	r.compared(3*time.Second, nil)
	const want = `Verified, every bit. The run took 2.000 s, with 2 processors busy for 96.0 % of the time; the sequential sweep took 3.000 s, 1.50 times as long.

busy        96.0 % of the time of 2 processors
compute     10.0 % of the blocks' time, 80.0 % of what is possible
queued      80.0 %: a block was ready, and no processor was free; 87.5 % of the time 16 blocks on 2 processors are queued or wait
wait         8.0 % for the frontiers of neighbours
frontiers    2.0 % to copy them
hand-overs 48 frontiers of 960 bytes, 0 bytes between nodes
hidden     3s in sum, while blocks did something else; 12 frontiers (25.0 %) had come before they were asked for
`
	table := r.table()
	if !strings.HasPrefix(table, want) {
		t.Errorf("the report is\n%s\nwant first\n%s", table, want)
	}
	if !strings.Contains(table, " 15ms\n") || !strings.HasSuffix(table, " 3s\n") {
		t.Errorf("want the hidden time of each block, and of all:\n%s", table)
	}
}

// Where nodes share processors, blocks count as computing for more time than these have.
func TestSharedProcessors(t *testing.T) {
	spent := [stencil.Exporting + 1]time.Duration{stencil.Computing: 150, stencil.Queued: 850}
	r := &report{shares: make([]share, 16), Processors: 2, LeastWaitShare: 0.875, all: share{time: 1e-6, account: stencil.Account{Spent: spent}}}
	if table, want := r.table(), "The run took 0.000 s, with 2 processors busy all the time."; !strings.Contains(table, want) {
		t.Errorf("the report is\n%s\nwant %q in it", table, want)
	}
	if table, want := r.table(), "compute     15.0 % of the blocks' time, at least 16.7 % of it without a processor\n"; !strings.Contains(table, want) {
		t.Errorf("the report is\n%s\nwant %q in it", table, want)
	}
}

func TestWrongResultIsReported(t *testing.T) {
	r := &report{shares: make([]share, 1), differs: errDiffers}
	if table := r.table(); !strings.HasPrefix(table, "WRONG: the result is not the sequential sweep's. ") || strings.Contains(table, "erified") {
		t.Errorf("a wrong result is not reported:\n%s", table)
	}
}

func TestInterruptedProgram(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("interrupt signal received"))
	var stdout, stderr strings.Builder
	if code := run(ctx, []string{"-json"}, &stdout, &stderr); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if want := "llk23: stopped without a result: interrupt signal received\n"; stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("prints %q and %q, want %q", stdout.String(), stderr.String(), want)
	}
}

var errFull = errors.New("no space left")

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestReportThatCannotBeWritten(t *testing.T) {
	for _, form := range []string{"-json", "-json=false"} {
		var stderr bytes.Buffer
		if code := run(t.Context(), []string{"-grid", "1x1", "-block", "3x3", "-iters", "1", form}, full{}, &stderr); code != 1 {
			t.Errorf("%s: exit code %d, want 1", form, code)
		}
		if want := "llk23: no space left\n"; stderr.String() != want {
			t.Errorf("%s: prints %q, want %q", form, stderr.String(), want)
		}
	}
}
