package trace

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

func example(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A wrong file gives an error of one line, which matches one of the package's errors.
func TestReadWrongFiles(t *testing.T) {
	rings.Computes(t)
	good := example(t)
	with := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the example has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":              {"", ErrNotJSON},
		"text":                 {"task row1: write a", ErrNotJSON},
		"binary":               {"\x7fELF", ErrNotJSON},
		"rubbish after it":     {good + "x", ErrNotJSON},
		"an array":             {"[]", ErrNoTrace},
		"an object":            {"{}", ErrNoTrace},
		"another's trace":      {`{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]}`, ErrNoTrace},
		"a later format":       {with(`"orwl_trace":1`, `"orwl_trace":2`), ErrNoTrace},
		"no end":               {with(`"to_us":24000.000`, `"to":1`), ErrMalformed},
		"it ends before":       {with(`"from_us":0.000`, `"from_us":24000.001`), ErrMalformed},
		"no such thread":       {with(`"tid":1,"ph":"X"`, `"tid":77,"ph":"X"`), ErrMalformed},
		"no such node":         {with(`"pid":1,"tid":1,"ph":"M"`, `"pid":0,"tid":1,"ph":"M"`), ErrMalformed},
		"a slice back in time": {with(`"dur":2000.000`, `"dur":-2000.000`), ErrMalformed},
		"a time too late":      {with(`"ts":3000.000`, `"ts":1e300`), ErrMalformed},
		"a wait back in time":  {with(`"asked_us":0.000`, `"asked_us":9000.000`), ErrMalformed},
		"an access of nobody":  {with(`"task":"reader 1","resource"`, `"task":"nobody","resource"`), ErrMalformed},
		"two names":            {with(`"tid":2,"ph":"M","name":"thread_name"`, `"tid":1,"ph":"M","name":"thread_name"`), ErrMalformed},
	} {
		_, err := Read(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for n := range good {
		if n == 0 || n >= len(strings.TrimSpace(good)) {
			continue
		}
		if _, err := Read(strings.NewReader(good[:n])); !errors.Is(err, ErrTruncated) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
}

// FuzzRead checks that whatever is read can be reported and written, and is read again
// as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(example(f)))
	f.Add([]byte(`{"otherData":{"orwl_trace":1,"from_us":0,"to_us":1},"traceEvents":[]}`))
	f.Add([]byte(`{"otherData":{"orwl_trace":1,"from_us":-5,"to_us":1,"clocks":[{"node":1,"offset_us":-3.5,"error_us":1}]},"traceEvents":[` +
		`{"pid":1,"tid":1,"ph":"M","name":"thread_name","args":{"task":"a"}},{"pid":1,"tid":2,"ph":"M","name":"thread_name","args":{"task":"a","resource":"x"}},` +
		`{"pid":1,"tid":2,"ph":"X","name":"hold","ts":1,"dur":1,"args":{"requested_us":0,"asked_us":0,"fence":1}}]}`))
	f.Add([]byte(`{"otherData":{"orwl_trace":1,"from_us":0,"to_us":9},"traceEvents":[` +
		`{"pid":1,"tid":1,"ph":"M","name":"thread_name","args":{"task":"a"}},{"pid":1,"tid":2,"ph":"M","name":"thread_name","args":{"task":"a","resource":"x"}},` +
		`{"pid":1,"tid":2,"ph":"X","name":"hold","ts":1,"dur":1,"args":{"requested_us":5,"fence":1}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := Read(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		report := tr.Report(ReportOptions{})
		_ = report.String()
		var b strings.Builder
		if err := tr.WriteChrome(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(strings.NewReader(b.String()))
		if err != nil {
			t.Fatalf("%v: written again it is\n%s", err, b.String())
		}
		if len(again.Tracks) != len(tr.Tracks) || len(again.Handovers()) != len(tr.Handovers()) {
			t.Errorf("%d tracks and %d hand-overs, and then %d and %d", len(tr.Tracks), len(tr.Handovers()), len(again.Tracks), len(again.Handovers()))
		}
	})
}
