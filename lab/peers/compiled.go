package peers

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

//go:embed c/*.c c/*.h
var sources embed.FS

// compiled is a peer in C.
type compiled struct {
	family  Family
	program *native.Program
}

func openPthread(ctx context.Context, f Family) (Peer, error) {
	return f.compile(ctx, native.C, native.Source{Main: "c/pthread.c", Flags: []string{"-pthread"},
		Headers: []native.Header{{Name: "pthread.h", Debian: "libc6-dev"}}})
}

func openCK(ctx context.Context, f Family) (Peer, error) {
	return f.compile(ctx, native.C, native.Source{Main: "c/ck.c", Flags: []string{"-pthread", "-lck"},
		Headers: []native.Header{{Name: "ck_spinlock.h", Debian: "libck-dev"}}})
}

func openOpenMPI(ctx context.Context, f Family) (Peer, error) {
	return f.compile(ctx, native.OpenMPI, native.Source{Main: "c/mpi.c", Flags: []string{"-pthread"},
		Headers: []native.Header{{Name: "mpi.h", Debian: "libopenmpi-dev"}}})
}

func openMPICH(ctx context.Context, f Family) (Peer, error) {
	return f.compile(ctx, native.MPICH, native.Source{Main: "c/mpi.c", Flags: []string{"-pthread"},
		Headers: []native.Header{{Name: "mpi.h", Debian: "libmpich-dev"}}})
}

func (f Family) compile(ctx context.Context, t native.Toolchain, s native.Source) (Peer, error) {
	s.Name, s.Files = f.Name, sources
	p, err := t.Build(ctx, s)
	if err != nil {
		return nil, err
	}
	return &compiled{f, p}, nil
}

// Close implements Peer.
func (p *compiled) Close() error { return p.program.Close() }

// Play implements Peer. Each repeat is a run of the program.
func (p *compiled) Play(ctx context.Context, c lab.Case, sampled func(lab.Sample)) (samples []lab.Sample, err error) {
	tree, err := topology.Parse(c.Machine)
	if err != nil {
		return nil, fmt.Errorf("peers: %w", err)
	}
	if c.Time <= 0 && c.Turns <= 0 {
		return nil, fmt.Errorf("peers: %s of %s: want Case.Time or Case.Turns above 0", c.Benchmark, c.Lock)
	}
	for repeat := range c.Repeats {
		line, err := p.run(ctx, c, tree, repeat)
		if err != nil {
			return samples, err
		}
		for _, s := range line.samples(repeat) {
			samples = append(samples, s)
			if sampled != nil {
				sampled(s)
			}
		}
	}
	return samples, nil
}

// result is the line of JSON that a peer prints.
type result struct {
	// Of each worker: the counted time, its sections, the time of all acquires and releases.
	Seconds  []float64 `json:"seconds"`
	Sections []uint64  `json:"sections"`
	Latency  []float64 `json:"latency"`
	// Wrong is how often a section found that it was not alone.
	Wrong uint64 `json:"wrong"`
}

// run is one repeat.
func (p *compiled) run(ctx context.Context, c lab.Case, tree *topology.Tree, repeat int) (r result, err error) {
	limited, cancel := context.WithTimeout(ctx, c.Limit())
	defer cancel()
	var problems bytes.Buffer
	cmd := p.program.Command(limited, tree.Ranks(), p.arguments(c, tree, repeat)...)
	cmd.Stderr = &problems
	output, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case limited.Err() != nil:
		return r, &lab.StallError{Case: c}
	}
	if err == nil {
		err = json.Unmarshal(output, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("peers: %s: %w: %s", p.family.Name, err, problems.String())
	case len(r.Sections) != tree.Ranks() || len(r.Latency) != tree.Ranks() || len(r.Seconds) != tree.Ranks():
		return r, fmt.Errorf("peers: %s says %s, want a line for %d workers", p.family.Name, output, tree.Ranks())
	case r.Wrong > 0:
		return r, &lab.ExclusionError{Other: -1, When: "check in " + p.family.Name}
	}
	return r, nil
}

// arguments are what c/bench.h reads.
func (p *compiled) arguments(c lab.Case, tree *topology.Tree, repeat int) []string {
	counted := c.Time - c.Time/10
	locality := locks.DefaultTL
	if n := tree.Levels(); len(c.Options.TL) >= n {
		locality = c.Options.TL[n-1]
	}
	flag := map[bool]string{false: "0", true: "1"}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return []string{
		c.Lock, c.Benchmark, strconv.Itoa(tree.Ranks()), strconv.Itoa(tree.Elements(tree.Levels())),
		number(c.Writers), number(counted.Seconds()), strconv.Itoa(c.Turns), strconv.Itoa(locality), flag[p.family.processes()], flag[!c.Unchecked],
		number(float64(c.Inside)), number(float64(c.Outside)), strconv.FormatUint(c.Seed+uint64(repeat), 10),
	}
}

// samples are what the workers of a run did.
func (r result) samples(repeat int) (all []lab.Sample) {
	duration := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	for rank, n := range r.Sections {
		s := lab.Sample{Rank: rma.Rank(rank), Repeat: repeat, Time: duration(r.Seconds[rank]), Turns: n}
		if total := duration(r.Latency[rank]); total > 0 {
			s.Latency = lab.Histogram{N: n, Total: total}
		}
		all = append(all, s)
	}
	return all
}
