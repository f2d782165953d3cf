package main

import (
	"bufio"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/dashboards"
	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/internal/rings"
)

// TestDashboardOfSessions has a real Prometheus scrape orwl serve while one session holds a lock and another one waits for it: each
// panel returns something, and the numbers are right.
func TestDashboardOfSessions(t *testing.T) {
	rings.Needs(t, rings.Change)
	c := process(t, "serve", "-listen", "127.0.0.1:0", "-lease", unhurried.String(), "-metrics", "127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	said := make(map[string]string)
	lines := bufio.NewScanner(out)
	for len(said) < 2 && lines.Scan() {
		what, where, _ := strings.Cut(lines.Text(), " at ")
		said[what] = where
	}
	go io.Copy(io.Discard, out)
	metrics := said["metrics"]
	if u, err := url.Parse(metrics); err == nil && u.Host != "" {
		metrics = u.Host
	}
	s := promserver.Start(t, promserver.Options{})
	s.Watch(promserver.Job{Name: "locks", Targets: []string{metrics}})

	one, two := looker(t, said["locks"]), looker(t, said["locks"])
	lease, err := one.Lock(t.Context(), "printer")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		second, err := two.Lock(t.Context(), "printer")
		if err == nil {
			err = second.Unlock(t.Context())
		}
		got <- err
	}()
	is := func(want float64) func(float64) bool { return func(v float64) bool { return v == want } }
	s.Until(`orwl_session_locks{state="held"}`, is(1))
	s.Until(`orwl_session_locks{state="waiting"}`, is(1))
	s.Until("orwl_sessions", is(2))
	pages, err := dashboards.Pages()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range pages {
		if p.UID == "orwl-sessions" {
			for _, q := range p.Queries("locks", "20s") {
				s.Returns(q.Expr)
				asked++
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d queries were asked", asked)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	s.Until(`orwl_session_locks{state="held"}`, is(0))
	s.Until("orwl_session_locks_granted_total", is(2))
}
