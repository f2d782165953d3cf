//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/dashboards"
	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/promserver"
	"github.com/orwl/go-orwl/internal/rings"
)

// watched is a server whose metrics the test reads.
func watched(t *testing.T, args ...string) (c *exec.Cmd, addr, metrics string) {
	t.Helper()
	c, at, of := watchedNodes(t, 1, args...)
	return c, at[0], of[0]
}

// watchedNodes are the nodes of a server whose metrics the test reads.
func watchedNodes(t *testing.T, nodes int, args ...string) (c *exec.Cmd, addr, metrics map[int]string) {
	t.Helper()
	c = program(t, nil, append([]string{"serve", "-listen", "127.0.0.1:0", "-metrics", "127.0.0.1:0"}, args...)...)
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // also if it is stopped
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	at, of := shown(t, log, nodes)
	for node := range of {
		u, err := url.Parse(of[node])
		if err != nil {
			t.Fatal(err)
		}
		of[node] = u.Host
	}
	return c, at, of
}

// TestAlertsOfTable has a real Prometheus watch servers with the rules of the dashboards:
// what it counts is what was sent, and it is alarmed when there is no room, and when
// commands take long.
func TestAlertsOfTable(t *testing.T) {
	rings.Needs(t, rings.Change)
	s := promserver.Start(t, promserver.Options{Rules: "../../dashboards/rules.yml"})
	_, small, ofSmall := watched(t, "-memory", "1", "-volumes", "64")
	slow, large, ofLarge := watched(t)
	s.Watch(
		promserver.Job{Name: "dht-small", Targets: []string{ofSmall}},
		promserver.Job{Name: "dht-large", Targets: []string{ofLarge}},
	)
	s.Until("count(count_over_time(up[1m]) > 3)", func(often float64) bool { return often == 2 })

	const keys = 100_000
	fill(t, large, keys)
	if got := say(t, large, "INCR key1"); !strings.HasPrefix(got, "-ERR") {
		t.Fatal(got)
	}
	s.Until(`dht_commands_total{job="dht-large", command="set", outcome="ok"}`, func(n float64) bool { return n == keys })
	s.Until(`dht_commands_total{job="dht-large", command="incr", outcome="error"}`, func(n float64) bool { return n == 1 })
	s.Until(`dht_keys{job="dht-large"}`, func(n float64) bool { return n == keys })
	s.Until(`sum(orwl_accesses_total{job="dht-large", access="relaxed", mode="write", outcome="acquired"})`, func(n float64) bool { return n > 0 })
	// A machine with much to do may be slow already.
	if early := s.Query(`ALERTS{alertname="DhtFull"}`); len(early) > 0 {
		t.Fatalf("alarmed before there was a fault: %v", early)
	}

	value, refused := strings.Repeat("x", 1000), 0
	for i := 0; refused < 10; i++ {
		if got := say(t, small, fmt.Sprintf("SET key%d %s", i, value)); strings.HasPrefix(got, "-OOM") {
			refused++
		}
	}
	s.Until(`ALERTS{alertname="DhtFull", job="dht-small"}`, func(v float64) bool { return v == 1 })

	// A process that stands still now and then, in the middle of something, is as slow as
	// one that has too much to do.
	var ended atomic.Bool
	hammered := make(chan struct{})
	go func() {
		defer close(hammered)
		for !ended.Load() {
			say(t, large, "KEYS *")
		}
	}()
	stopping := make(chan struct{})
	go func() {
		defer close(stopping)
		moment := time.NewTicker(200 * time.Millisecond)
		defer moment.Stop()
		for ; !ended.Load(); <-moment.C {
			_ = slow.Process.Signal(syscall.SIGSTOP)
			<-moment.C
			_ = slow.Process.Signal(syscall.SIGCONT)
		}
	}()
	s.Until(`ALERTS{alertname="DhtSlow", job="dht-large"}`, func(v float64) bool { return v == 1 })
	pages, err := dashboards.Pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.UID == "orwl-dht" {
			for _, q := range p.Queries("dht-large", "20s") { // each panel returns something
				s.Returns(q.Expr)
			}
		}
	}
	ended.Store(true)
	<-stopping
	<-hammered
}

// TestPage looks at the volumes of a table in a browser: keys come, and their locks are acquired, on both nodes. One node shows all.
func TestPage(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := browser.Open(t, 1280, 900)
	_, at, of := watchedNodes(t, 2, "-volumes", "8", "-nodes", "2")
	b.Show("http://" + of[1] + "/")
	b.Until(`$('head').textContent === 'This program has no tasks'`)
	b.Until(`$('tables').innerText.includes('Volumes of the hash table') && $('tables').innerText.includes('volume 0, node 0') && $('tables').innerText.includes('volume 6, node 1')`)
	fill(t, at[0], 10_000)
	b.Until(`tables.at(-1).tables[0].rows.reduce((sum, r) => sum + r.values[0], 0) === 10000`)
	b.Until(`tables.at(-1).tables[0].rows.every(r => r.values[2] > 0)`)
	b.Shot("volumes")
}

// fill sets so many keys in one pipeline.
func fill(t *testing.T, addr string, keys int) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	go func() {
		w := bufio.NewWriter(c)
		for i := range keys {
			fmt.Fprintf(w, "SET key%d value\r\n", i)
		}
		w.Flush()
	}()
	replies := bufio.NewScanner(c)
	for i := range keys {
		if !replies.Scan() || replies.Text() != "+OK" {
			t.Fatalf("reply %d is %q, %v", i, replies.Text(), replies.Err())
		}
	}
}

// TestMetricsRefused is what is wrong with -metrics, in a line, and perhaps where the flags are shown.
func TestMetricsRefused(t *testing.T) {
	_, _, taken := watched(t)
	for _, c := range []struct{ address, says string }{
		{taken, "port taken"}, {"nowhere", "want HOST:PORT"}, {"0.0.0.0:0", "without a cluster key"},
	} {
		out, err := program(t, nil, "serve", "-listen", "127.0.0.1:0", "-metrics", c.address).CombinedOutput()
		if err == nil || strings.Count(string(out), "\n") > 2 || !strings.Contains(string(out), c.says) {
			t.Errorf("-metrics %s: %v, %q, want a line about %q", c.address, err, out, c.says)
		}
	}
}

// Ctrl-C ends a contest with the exit code of shells.
func TestBenchInterrupted(t *testing.T) {
	c := program(t, nil, "bench", "-ranks", "2", "-ops", "16777216")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // the title: the contest begins
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	_ = c.Wait() // says the exit code again
	if code := c.ProcessState.ExitCode(); code != command.Interrupted {
		t.Errorf("exit code %d, want %d", code, command.Interrupted)
	}
}
