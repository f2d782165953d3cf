package watch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// ORWL_WATCH has a runtime serve its page, print the link, and end with the runtime. No foreign name gets an answer.
func TestVariable(t *testing.T) {
	t.Setenv(Variable, "127.0.0.1:0")
	var log bytes.Buffer
	rt, err := orwl.New(orwl.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`msg=watch url=(http://127\.0\.0\.1:\d+/)\n`).FindStringSubmatch(log.String())
	if m == nil {
		t.Fatalf("no link: %s", log.String())
	}
	defer http.DefaultClient.CloseIdleConnections()
	for host, want := range map[string]int{"": 200, "localhost:1": 200, "page.example": 421} {
		for _, path := range []string{"", "watch/why"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m[1]+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != want || path != "" && want == 200 && string(text) != "no task runs: the run has not begun\n" {
				t.Errorf("/%s as %q: %d %.100s", path, host, answer.StatusCode, text)
			}
		}
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(m[1], "http://"), "/")); err == nil {
		c.Close()
		t.Error("the port is open after the end")
	}
	// A page that cannot be served does not end the run.
	log.Reset()
	t.Setenv(Variable, "0.0.0.0:0")
	if rt, err = orwl.New(orwl.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil || !strings.Contains(log.String(), "without a cluster key the port stays on this machine") {
		t.Errorf("%v, %s", err, log.String())
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkCost is a run of 64 tasks with a page, with and without a reader, in turns. A run takes about a second. Two runs without
// differ, too: the benchmark says by how much.
//
//	go test ./orwl/watch -run '^$' -bench Cost -benchtime 1x
func BenchmarkCost(b *testing.B) {
	const tasks, rounds, turns = 64, 60_000, 10
	for b.Loop() {
		var ratios, noise []float64
		run := func(watched bool) float64 {
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var rs []*resource.Resource
			for i := range tasks {
				rs = append(rs, rt.Resource(fmt.Sprint("r", i), 8))
			}
			work := make([]float64, 256)
			for i := range tasks {
				t := rt.Task(fmt.Sprint("t", i))
				orwl.Writes[byte](t, rs[i])
				orwl.Reads[byte](t, rs[(i+1)%tasks])
				t.Each(rounds, func(int) error {
					sum := 0.0
					for _, w := range work {
						sum += w * w
					}
					if sum > 0 {
						panic(sum)
					}
					return nil
				})
			}
			p := New(func() *orwl.Runtime { return rt })
			if watched {
				me, done := p.join(), make(chan struct{})
				defer close(done)
				defer p.leave(me)
				go func() {
					for {
						select {
						case <-me.events:
						case <-done:
							return
						}
					}
				}()
			}
			began := time.Now()
			if err := rt.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			took := time.Since(began).Seconds()
			p.Close()
			return took
		}
		for turn := range turns {
			var took [3]float64 // with a reader, and twice without
			for i := range took {
				which := (turn + i) % len(took)
				took[which] = run(which == 0)
			}
			ratios, noise = append(ratios, 2*took[0]/(took[1]+took[2])), append(noise, took[1]/took[2])
		}
		b.Logf("with a reader, of the time without: %.3f; without, of the time without: %.3f", ratios, noise)
		slices.Sort(ratios)
		slices.Sort(noise)
		b.ReportMetric(ratios[turns/2], "with/without")
		b.ReportMetric(noise[turns/2], "without/without")
		b.ReportMetric(1.02, "target")
	}
}
