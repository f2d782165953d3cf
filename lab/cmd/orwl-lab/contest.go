package main

import (
	"flag"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// contestFlags are the flags that say which lock plays, and on what.
type contestFlags struct {
	lock     string
	topology string
	acquire  int
	writers  int
	faults   sim.Faults
	options  lockOptions
}

func (c *contestFlags) define(f *flag.FlagSet, lock, tree string, acquire int) {
	f.StringVar(&c.lock, "lock", lock, command.Usage("lock", ": "+known()))
	f.StringVar(&c.topology, "topology", tree, command.Usage("topology", ""))
	f.IntVar(&c.acquire, "acquire", acquire, "each rank acquires `N` times")
	f.IntVar(&c.writers, "writers", 1, "`N` ranks write, every other time, if the lock tells readers from writers")
	f.IntVar(&c.faults.Crashes, "crashes", 0, "`N` ranks crash")
	f.IntVar(&c.faults.Cancels, "cancels", 0, "the contexts of `N` ranks end")
	f.IntVar(&c.faults.Pauses, "pauses", 0, "`N` ranks stand still for a while")
	f.IntVar(&c.faults.Delays, "delays", 0, "what `N` ranks have under way arrives late for a while")
	f.IntVar(&c.faults.Cuts, "cuts", 0, "`N` ranks are cut off from the others for a while")
	f.IntVar(&c.faults.Splits, "splits", 0, "`N` ranks are cut off from the others for ever")
	c.options.define(f)
}

// contest is what the flags say, checked.
func (c *contestFlags) contest() (specimen.Contest, error) {
	contest := specimen.Contest{Acquisitions: c.acquire, Writers: c.writers, Faults: c.faults}
	var err error
	if contest.Topology, err = topology.Parse(c.topology); err != nil {
		return contest, command.Misusef("-topology: %w", err)
	}
	ranks := contest.Topology.Ranks()
	for _, check := range []error{
		inRange("acquire", c.acquire, 1, 1<<20),
		inRange("writers", c.writers, 0, ranks),
		inRange("crashes", c.faults.Crashes, 0, ranks),
		inRange("cancels", c.faults.Cancels, 0, ranks),
		inRange("pauses", c.faults.Pauses, 0, 1000),
		inRange("delays", c.faults.Delays, 0, 1000),
		inRange("cuts", c.faults.Cuts, 0, 1000),
		inRange("splits", c.faults.Splits, 0, ranks),
	} {
		if check != nil {
			return contest, check
		}
	}
	return contest, nil
}
