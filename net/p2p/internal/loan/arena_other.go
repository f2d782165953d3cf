//go:build !linux

package loan

import "errors"

// arenaFile is never made on this system: newArena says so, and nothing else gets to
// it.
type arenaFile struct {
	bytes []byte
	Offer Offer
	Bell  *Bell
}

func newArena(int, int) (*Arena, error)     { return nil, errors.ErrUnsupported }
func (*arenaFile) reached(int64)            {}
func (*arenaFile) punch([]byte)             {}
func (*arenaFile) Close()                   {}
func Map(Offer, int, int) (*Mapping, error) { return nil, errNoArena }
func unmap([]byte)                          {}
func closeBell(int)                         {}

// Bell is never made on this system.
type Bell struct{}

// Hear is never called.
func (*Bell) Hear() error { return errors.ErrUnsupported }

// Close is never called.
func (*Bell) Close() {}

// Wake is never called.
func (*Mapping) Wake() {}
