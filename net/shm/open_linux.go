package shm

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
)

// Create makes a fabric, to be handed to the other processes by File or Path.
func Create(options Options) (*Fabric, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	l, err := options.geometry().layout()
	if err != nil {
		return nil, err
	}
	file, err := newFile(l.size)
	if err != nil {
		return nil, err
	}
	if err := writeHeader(file, options); err != nil {
		file.Close()
		return nil, err
	}
	return newFabric(file, l, options)
}

// Open joins the fabric in file. The process inherited the file from one that put File
// of its fabric into exec.Cmd.ExtraFiles, or opened its Path for reading and writing.
// The file remains the caller's: close it at any time.
//
// A file that is no fabric is ErrNotAFabric. A fabric that was made with other options
// is a *MismatchError.
func Open(file *os.File, options Options) (*Fabric, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	l, err := readHeader(file, options)
	if err != nil {
		return nil, err
	}
	file, err = reopen(file)
	if err != nil {
		return nil, err
	}
	return newFabric(file, l, options.withDefaults())
}

// newFabric maps the fabric in file, which is its own from now on, and begins
// to watch it.
func newFabric(file *os.File, l layout, options Options) (*Fabric, error) {
	own, err := reopen(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	m, err := mapMemory(own, l.size)
	if err != nil {
		own.Close()
		file.Close()
		return nil, err
	}
	world, sleeper := newWorld(m, l, options.Here)
	f := &Fabric{
		topology: options.Topology,
		memory:   m,
		header:   view[header](m, 0),
		claims:   views[claim](m, l.claims, l.ranks),
		locks:    locks{own},
		file:     file,
		path:     fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()),
		heap:     heap{log: views[atomic.Uint64](m, l.log, l.words)},
		world:    world,
		sleeper:  sleeper,
		here:     options.Here,
		survive:  options.Survive,
		told:     options.Lost,
		windows:  make(map[rma.Rank]*direct.Window),
		quit:     make(chan struct{}),
		watched:  make(chan struct{}),
	}
	f.me = f.header.processes.Add(1)<<32 | uint64(os.Getpid())
	f.stop = context.AfterFunc(options.Context, func() { f.Fail(context.Cause(options.Context)) })
	go f.watch()
	return f, nil
}

// newWorld finds in the memory what all windows share. Ranks that run here compete for its
// processors.
func newWorld(m *memory, l layout, here func(p rma.Rank) bool) (*direct.World, *sleeper) {
	ranks := 0
	for p := range l.ranks {
		if here(rma.Rank(p)) {
			ranks++
		}
	}
	world := &direct.World{
		Segments: make([]direct.Segment, l.ranks),
		Memory:   newPools(m, l),
		Spin:     patience.Processes(ranks, runtime.NumCPU(), direct.LookTime()),
		Crowd:    considerate.Processes(ranks, runtime.NumCPU()),
	}
	lobbies := make([]*lobby, l.ranks)
	for p := range lobbies {
		lobby := view[lobby](m, l.lobbyOf(p))
		lobbies[p] = lobby
		world.Segments[p] = direct.Segment{
			Heap:    views[uint64](m, l.heapOf(p), l.words),
			Room:    &lobby.room,
			Waiters: views[atomic.Uint64](m, l.waitersOf(p), direct.WaiterWords(l.ranks)),
			Guests:  views[uint32](m, l.guestsOf(p), direct.GuestPlaces(l.ranks)),
		}
	}
	sleeper := newSleeper(m, lobbies)
	world.Sleeper = sleeper
	return world, sleeper
}
