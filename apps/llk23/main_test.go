package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := strings.Fields("-rows 33 -cols 17 -iters 10 -ranks 3 -json")
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, complains %q", code, stderr.String())
	}
	var got map[string]any
	decoder := json.NewDecoder(&stdout)
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if decoder.More() {
		t.Error("there is more than one object")
	}
	for name, want := range map[string]any{
		"rows": 33., "cols": 17., "elements": 561., "iters": 10., "ranks": 3.,
		"kernel": "listing", "verified": true, "handovers": 38., "bytes_shipped": 38. * 17 * 8,
		"sha256": "4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
		delete(got, name)
	}
	number := func(name string) float64 {
		n, ok := got[name].(float64)
		if !ok || n < 0 {
			t.Errorf("%s is %v, want a number", name, got[name])
		}
		delete(got, name)
		return n
	}
	seconds, perElement := number("seconds"), number("ns_per_element")
	if want := seconds * 1e9 / 5610; math.Abs(perElement/want-1) > 1e-9 {
		t.Errorf("ns_per_element is %v, want %v", perElement, want)
	}
	if sum := number("compute_share") + number("wait_share"); sum > 1+1e-9 {
		t.Errorf("the shares add up to %v", sum)
	}
	if len(got) > 0 {
		t.Errorf("there is more: %v", got)
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string
	}{
		{"-ranks 3", []string{"elements", "561, 33 rows of 17", "1 to 11", "23 to 33", "mean", "38 rows", "5168", "yes, every bit",
			"4f2ec1d4092ef763e8cd3bd0ec33efb31fbf04bb13b6a8f9131a317a47549648"}},
		{"-ranks 33 -verify=false", []string{"idlest", "busiest", "-verify=false"}},
		{"-ranks 1", []string{"0 rows", "yes, every bit"}},
	} {
		var stdout, stderr strings.Builder
		args := append(strings.Fields("-rows 33 -cols 17 -iters 10"), strings.Fields(c.args)...)
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
			t.Errorf("llk23 %s: exit code %d, complains %q", c.args, code, stderr.String())
		}
		for _, want := range c.says {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("llk23 %s: does not say %q:\n%s", c.args, want, stdout.String())
			}
		}
	}
}

func TestWrongResultIsReported(t *testing.T) {
	r := &report{shares: make([]share, 1), differs: errDiffers}
	if table := r.table(); !strings.Contains(table, "NO") {
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

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestReportThatCannotBeWritten(t *testing.T) {
	for _, form := range []string{"-json", "-json=false"} {
		var stderr strings.Builder
		if code := run(t.Context(), []string{"-rows", "3", "-cols", "3", "-iters", "1", form}, full{}, &stderr); code != 1 {
			t.Errorf("%s: exit code %d, want 1", form, code)
		}
		if want := "llk23: no space left\n"; stderr.String() != want {
			t.Errorf("%s: prints %q, want %q", form, stderr.String(), want)
		}
	}
}
