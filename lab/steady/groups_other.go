//go:build !linux

package main

import (
	"context"
	"errors"
	"os/exec"
)

var errNoGroups = errors.New("this needs control groups, which only Linux has")

func withQuota(*exec.Cmd) error                   { return errNoGroups }
func withPauses(context.Context, *exec.Cmd) error { return errNoGroups }
