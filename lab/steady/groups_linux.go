package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Where control groups are mounted: the second version alone, or beside the first.
var mounts = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}

// group is a control group.
type group string

// newGroup makes a group below a mount.
func newGroup(mount, name string) (group, error) {
	g := group(filepath.Join(mount, fmt.Sprintf("orwl-steady-%d-%s", os.Getpid(), name)))
	if err := os.Mkdir(string(g), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return g, nil
}

func (g group) write(file, text string) error {
	return os.WriteFile(filepath.Join(string(g), file), []byte(text), 0o644)
}

func (g group) take(pid string) error { return g.write("cgroup.procs", pid) }

// members are the processes in the group.
func (g group) members() []string {
	text, err := os.ReadFile(filepath.Join(string(g), "cgroup.procs"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// end kills what is left in the group, and removes it.
func (g group) end() {
	for range 100 {
		for _, pid := range g.members() {
			var n int
			if _, err := fmt.Sscan(pid, &n); err == nil {
				if p, err := os.FindProcess(n); err == nil {
					_ = p.Kill() // it may have ended
				}
			}
		}
		if err := os.Remove(string(g)); err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// inside runs a command in a group. A shell goes in first, so that no child escapes.
func (g group) inside(cmd *exec.Cmd) error {
	cmd.Args = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, string(g), cmd.Path}, cmd.Args[1:]...)
	path, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	cmd.Path = path
	return cmd.Run()
}

// withQuota gives a command and its children a third of a processor.
func withQuota(cmd *exec.Cmd) error {
	const third, of = 33_000, 100_000
	g, err := newGroup("/sys/fs/cgroup/cpu", "quota") // the first version
	if err == nil {
		err = errors.Join(g.write("cpu.cfs_period_us", fmt.Sprint(of)), g.write("cpu.cfs_quota_us", fmt.Sprint(third)))
	} else if g, err = newGroup(mounts[0], "quota"); err == nil {
		err = g.write("cpu.max", fmt.Sprint(third, " ", of))
	}
	if err != nil {
		return fmt.Errorf("no quota: %w", err)
	}
	defer g.end()
	return g.inside(cmd)
}

// The pauses of single processes.
const (
	longestPause = 300 * time.Millisecond
	between      = 400 * time.Millisecond // at most
)

// withPauses pauses one process of a command after the other.
func withPauses(ctx context.Context, cmd *exec.Cmd) error {
	var all, one group
	var err error
	for _, mount := range mounts {
		if all, err = newGroup(mount, "all"); err != nil {
			continue
		}
		if err = all.write("cgroup.freeze", "0"); err == nil {
			one, err = newGroup(mount, "one")
			break
		}
		all.end()
	}
	if err != nil {
		return fmt.Errorf("no freezer: %w", err)
	}
	defer all.end()
	defer one.end()
	ctx, stop := context.WithCancel(ctx)
	paused := make(chan struct{})
	go func() {
		defer close(paused)
		for ctx.Err() == nil {
			wait(ctx, rand.N(between))
			pids := all.members()
			if len(pids) == 0 {
				continue
			}
			pid := pids[rand.IntN(len(pids))]
			// The process may end at each step.
			if one.take(pid) != nil {
				continue
			}
			_ = one.write("cgroup.freeze", "1")
			wait(ctx, rand.N(longestPause))
			_ = one.write("cgroup.freeze", "0")
			for _, pid := range one.members() {
				_ = all.take(pid)
			}
		}
	}()
	err = all.inside(cmd)
	stop()
	<-paused
	return err
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
