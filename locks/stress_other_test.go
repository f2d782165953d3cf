//go:build !linux

package locks_test

import (
	"testing"

	"github.com/orwl/go-orwl/locks"
)

// Processes need net/shm.
type stressCrew struct{}

func stressHands(*testing.T) stressCrew { return stressCrew{} }

func stressProcesses(*testing.T, locks.Spec, stressCrew) {}
