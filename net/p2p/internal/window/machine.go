package window

import (
	"fmt"
	"os"
	"strings"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
)

// Several nodes share memory on one machine: one of them creates it, and the others join it when
// they know of it.

// dynamicWords bounds what each rank attaches: addresses, not memory.
const dynamicWords = 1 << 27

// shared are the options of package shm. A process that is lost is the failure of the whole
// fabric. Package shm asks for ranks while the fabric may still get another layout, in which
// this machine has the same ranks, or does not share memory after all.
func (f *Fabric) shared() shm.Options {
	on, here := f.on, f.here
	return shm.Options{
		Topology: f.o.Topology, Words: f.o.Words, DynamicWords: dynamicWords,
		Here: func(p rma.Rank) bool { return on[p] == here }, Lost: f.fail,
	}
}

// create makes memory for this machine, and says where it is.
func (f *Fabric) create() (*shm.Fabric, control.Place, error) {
	m, err := shm.Create(f.shared())
	if err != nil {
		return nil, control.Place{}, err
	}
	file, err := fileID(m.File())
	if err != nil {
		_ = m.Close() // its error is always nil
		return nil, control.Place{}, err
	}
	return m, control.Place{Path: m.Path(), File: file}, nil
}

// join opens the memory that another node of this machine has made, if it can be.
func (f *Fabric) join(at control.Place) (*shm.Fabric, error) {
	// Where processes are numbered differently that may be anything.
	if what, err := os.Readlink(at.Path); err != nil || !strings.HasPrefix(what, "/memfd:") {
		return nil, fmt.Errorf("%s is %q, %v", at.Path, what, err)
	}
	file, err := os.OpenFile(at.Path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if id, err := fileID(file); err != nil || id != at.File {
		return nil, fmt.Errorf("%s is file %s, not %s: %v", at.Path, id, at.File, err)
	}
	return shm.Open(file, f.shared())
}
