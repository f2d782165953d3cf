package main

import (
	"context"
	"os"
	"os/exec"
)

// way is how the machine treats a test.
type way int

const (
	busy way = iota
	quota
	pauses
)

var ways = []way{busy, quota, pauses}

func (w way) String() string { return [...]string{"busy", "quota", "pauses"}[w] }

// run runs a command in this way.
func (w way) run(ctx context.Context, cmd *exec.Cmd) error {
	switch w {
	case busy:
		return besideOthers(ctx, cmd)
	case quota:
		return withQuota(cmd)
	}
	return withPauses(ctx, cmd)
}

// besides is how many processes compute beside a test.
const besides = 8

func besideOthers(ctx context.Context, cmd *exec.Cmd) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range besides {
		other := exec.CommandContext(ctx, self, "-spin")
		if err := other.Start(); err != nil {
			return err
		}
		defer func() {
			stop()
			_ = other.Wait() // it was killed
		}()
	}
	return cmd.Run()
}
