package taskbench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// System runs task graphs.
type System interface {
	// Run runs graphs beside each other. It returns the error of a task that reads a wrong
	// output.
	Run(ctx context.Context, graphs []*Schedule) (Result, error)
	// Close ends what Open has started.
	Close() error
}

// Result is what a run took, and what it has computed. Checksum hashes which task read the output
// of which other task. Two systems that have run the same graphs have the same one.
type Result struct {
	Elapsed  time.Duration // from the start of the first task to the end of the last one
	Tasks    int64
	Checksum uint64
}

// result makes a result of a tally.
func (t tally) result(elapsed time.Duration) Result {
	return Result{Elapsed: elapsed, Tasks: int64(t.tasks), Checksum: t.sum}
}

// Options configure a System.
type Options struct {
	Workers int // how many threads, goroutines or processes compute at a time
}

// systems are all systems by name.
var systems = []struct {
	name string
	open func(Options) (System, error)
}{
	{"orwl", func(o Options) (System, error) { return &ORWL{}, nil }},
	{"channels", func(o Options) (System, error) { return channels{}, nil }},
	{"barrier", func(o Options) (System, error) { return barrier{o.Workers}, nil }},
	{"openmp", openOpenMP},
	{"mpi", openMPI},
}

// SystemNames are the names of all systems: "orwl, channels, ...".
func SystemNames() string {
	var names []string
	for _, s := range systems {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// ErrSystem is a name that no system has.
var ErrSystem = errors.New("taskbench: no such system")

// Open returns the system with this name.
func Open(name string, o Options) (System, error) {
	for _, s := range systems {
		if s.name == name {
			return s.open(o)
		}
	}
	return nil, fmt.Errorf("%w: %q: want one of %s", ErrSystem, name, SystemNames())
}
