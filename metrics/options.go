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
	// Sample is the greatest number of accesses in a row that one timed access stands for:
	// 1024 if zero, 1 to time each, up to 65536. The quicker the accesses of a task follow
	// one another, the fewer are timed, so that clocks take a few percent of the time. Slow
	// accesses are timed each time. Counts are always exact.
	Sample int
	// Tasks gives what is counted of tasks the label task: so many more series as
	// there are tasks.
	Tasks bool
	// Profile gives the goroutines of tasks the label resource in profiles while they wait
	// for a resource, and then hold it. They have the label task in any case. It costs about
	// 50 ns each time.
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
