//go:build !linux

package shm

import (
	"errors"
	"fmt"
	"os"

	"github.com/orwl/go-orwl/net/rma"
)

// Fabric exists on Linux only.
type Fabric struct{ rma.Fabric }

// Create fails: it needs Linux.
func Create(Options) (*Fabric, error) { return nil, unsupported("Create") }

// Open fails: it needs Linux.
func Open(*os.File, Options) (*Fabric, error) { return nil, unsupported("Open") }

// Fail does nothing.
func (*Fabric) Fail(error) {}

// File is the fabric as an open file.
func (*Fabric) File() *os.File { return nil }

// Path names the fabric's file for other processes.
func (*Fabric) Path() string { return "" }

func unsupported(call string) error {
	return fmt.Errorf("shm: %s: %w: ranks in several processes need Linux; use net/mem for ranks in one process", call, errors.ErrUnsupported)
}
