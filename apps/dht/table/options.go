package table

import (
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// Options say how a table is made. They are the same on all nodes, except Nodes. The zero value
// will do for one process.
type Options struct {
	// Nodes are those that the table is spread over; nil is this process alone.
	Nodes *orwl.Nodes
	// Port is the number of the orwl.Port that the table uses, 0 by default: another
	// one for each table of the same nodes.
	Port int
	// Volumes is how many there are, of all nodes together: 64 for each node by
	// default, 1 to 65536. The more, the less do clients meet, and the more do
	// small tables take.
	Volumes int
	// First is how many bytes a volume has in the beginning, 64 KiB by default, and Most
	// how many it may grow to, 64 MiB by default: 8 KiB to 4 GiB, multiples of 16.
	First, Most int
	// Memory, if not nil, is what the volumes take, and the long values of results: an op
	// for which it has no room is ErrFull. A caller that has read such a value gives it back by Memory.Give.
	// Then one Do also answers with few long values at a time, see ErrLater. Volumes grow by small steps.
	Memory *budget.Budget
	// Guard is the lock of each volume, by the name that it has in `orwl locks`: any
	// whose kind is ReaderWriter. "RMA-RW" by default.
	Guard string
	// Watch, if not nil, is called with each volume before the first access to it.
	Watch func(*resource.Resource)
	// Now is the clock that keys expire by, in Unix milliseconds: the real one by
	// default.
	Now func() int64
	// Hash is what keys are spread by. The default is XXH64, which is the same in
	// every process.
	Hash func(key []byte) uint64
}

// Defaults and limits of Options.
const (
	volumesPerNode = 64
	mostVolumes    = 1 << 16
	firstVolume    = 64 << 10
	fullVolume     = 64 << 20
)

func defaultHash(key []byte) uint64 { return xxhash.Sum64(key) }

func realTime() int64 { return time.Now().UnixMilli() }

// clock is Options.Now. It is asked only where something expires.
type clock func() int64

// over reports whether what expires at a time is over.
func (now clock) over(expires int64) bool { return expires != 0 && expires <= now() }

func (o Options) withDefaults() Options {
	if o.Volumes == 0 {
		o.Volumes = volumesPerNode * o.Nodes.Count()
	}
	if o.Most == 0 {
		o.Most = max(fullVolume, o.First)
	}
	if o.First == 0 {
		o.First = min(firstVolume, o.Most)
	}
	if o.Guard == "" {
		o.Guard = "RMA-RW"
	}
	if o.Now == nil {
		o.Now = realTime
	}
	if o.Hash == nil {
		o.Hash = defaultHash
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Port < 0 || o.Port >= orwl.Ports:
		return fmt.Errorf("table: Options.Port is %d, want 0 to %d", o.Port, orwl.Ports-1)
	case o.Volumes < 1 || o.Volumes > mostVolumes:
		return fmt.Errorf("table: Options.Volumes is %d, want 1 to %d", o.Volumes, mostVolumes)
	case o.Most < leastVolume || o.Most > mostVolume || o.Most%unit != 0:
		return fmt.Errorf("table: Options.Most is %d, want %d to %d, a multiple of %d", o.Most, leastVolume, mostVolume, unit)
	case o.First < leastVolume || o.First > o.Most || o.First%unit != 0:
		return fmt.Errorf("table: Options.First is %d, want %d to Options.Most, %d, a multiple of %d", o.First, leastVolume, o.Most, unit)
	}
	return nil
}
