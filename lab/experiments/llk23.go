package experiments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// result is what is read of llk23's report.
type result struct {
	Elements       int64   `json:"elements"`
	Seconds        float64 `json:"seconds"`
	NsPerElement   float64 `json:"ns_per_element"`
	ComputeShare   float64 `json:"compute_share"`
	QueuedShare    float64 `json:"queued_share"`
	WaitShare      float64 `json:"wait_share"` // with QueuedShare: the papers do not tell the two apart
	LeastWaitShare float64 `json:"least_wait_share"`
}

// llk23 runs the program with arguments, so many processors for each node, and -json.
func (p plan) llk23(ctx context.Context, processors int, args ...string) (r result, err error) {
	cmd := exec.CommandContext(ctx, p.program, append(args, "-json")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", processors))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		return r, fmt.Errorf("llk23 %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	err = json.Unmarshal(out, &r)
	r.WaitShare += r.QueuedShare
	return r, err
}
