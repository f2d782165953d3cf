package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options say who scrapes, and how much is measured.
type Options struct {
	// Registerer is who everything is registered with. Required.
	Registerer prometheus.Registerer
	// Node is the number of this process in its run, and the label node of all that
	// is ours.
	Node int
	// Sample is of how many accesses in a row, at most, one is timed and stands for the
	// others: 1024 if zero, 1 for all of them, up to 65536. How many it is of those of
	// a task depends on how quickly they follow one another, so that a clock takes no
	// more than a few percent of the time: what is slow is timed each time. Counts are
	// exact in any case.
	Sample int
	// Tasks gives what is counted of tasks the label task: so many more series as
	// there are tasks.
	Tasks bool
	// Profile gives the goroutines of tasks, beside the label task that they always
	// have in profiles, the label resource while they wait for one, and then hold it.
	// That takes about 50 ns each time.
	Profile bool

	clock func() time.Duration // monotonic; the machine's if nil
}

const (
	defaultSample = 1024
	mostSample    = 1 << 16
)

func (o Options) withDefaults() Options {
	if o.Sample == 0 {
		o.Sample = defaultSample
	}
	if o.clock == nil {
		began := time.Now()
		o.clock = func() time.Duration { return time.Since(began) }
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Registerer == nil:
		return fmt.Errorf("metrics: Options.Registerer is nil: want one, as prometheus.NewRegistry makes")
	case o.Node < 0:
		return fmt.Errorf("metrics: Options.Node is %d: want 0 or more", o.Node)
	case o.Sample < 1 || o.Sample > mostSample:
		return fmt.Errorf("metrics: Options.Sample is %d: want 1 to %d, or 0 for %d", o.Sample, mostSample, defaultSample)
	}
	return nil
}
