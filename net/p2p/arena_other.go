//go:build !linux

package p2p

import "errors"

// arenaFile is never made on this system: newArena says so, and nothing else gets to
// it.
type arenaFile struct {
	bytes []byte
	offer offer
}

func newArena(int, int) (*arena, error)          { return nil, errors.ErrUnsupported }
func (*arenaFile) reached(int64)                 {}
func (*arenaFile) punch([]byte)                  {}
func (*arenaFile) close()                        {}
func mapArena(offer, int, int) (*mapping, error) { return nil, errElsewhere }
func unmap([]byte)                               {}
