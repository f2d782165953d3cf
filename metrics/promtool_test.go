package metrics

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// Prometheus' own tool finds nothing wrong with names, units and help.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: the package prometheus has it")
	}
	m, registry := made(t, Options{Tasks: true})
	m.door("RMA-RW")
	k, err := orwl.NewLocker("MCS")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Locker("lock", k); err != nil {
		t.Fatal(err)
	}
	crowded(t, m, 2, 10, 0, false)
	s := serves(t, ServerOptions{Gatherer: registry})
	_, _, body := ask(t, s, "/metrics", "")
	c := exec.CommandContext(t.Context(), tool, "check", "metrics")
	c.Stdin = strings.NewReader(body)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
