package taskbench

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/internal/native"
)

// The peers in C are compiled when they are opened. A peer reads schedules from its input and
// answers each with a line, until the input ends.
//
//go:embed peers/*.c peers/*.h
var sources embed.FS

// peer is a running peer.
type peer struct {
	program  *native.Program
	process  *exec.Cmd
	input    io.WriteCloser
	answers  *bufio.Scanner
	problems *bytes.Buffer
	name     string
}

// openOpenMP compiles and starts the peer with OpenMP tasks.
func openOpenMP(o Options) (System, error) {
	p, err := build(native.C, "openmp", native.Header{Name: "omp.h", Debian: "gcc"}, "-fopenmp")
	if err != nil {
		return nil, err
	}
	return p.start(1, "OMP_NUM_THREADS="+strconv.Itoa(o.Workers))
}

// openMPI compiles and starts the peer with a process for each worker.
func openMPI(o Options) (System, error) {
	p, err := build(native.OpenMPI, "mpi", native.Header{Name: "mpi.h", Debian: "libopenmpi-dev"})
	if err != nil {
		return nil, err
	}
	return p.start(o.Workers)
}

// build compiles a peer, which includes a header that comes in a package of its own.
func build(t native.Toolchain, name string, header native.Header, flags ...string) (*peer, error) {
	program, err := t.Build(context.Background(), native.Source{
		Name: name, Files: sources, Main: "peers/" + name + ".c", Headers: []native.Header{header}, Flags: flags,
	})
	if err != nil {
		return nil, err
	}
	return &peer{name: name, program: program, problems: new(bytes.Buffer)}, nil
}

// start starts the peer, with more variables in its environment.
func (p *peer) start(processes int, variables ...string) (_ System, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, p.program.Close())
		}
	}()
	p.process = p.program.Command(context.Background(), processes)
	p.process.Env = append(os.Environ(), variables...)
	p.process.Stderr = p.problems
	if p.input, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.answers = bufio.NewScanner(output)
	return p, p.process.Start()
}

// Close ends the peer and removes what was compiled.
func (p *peer) Close() error {
	p.input.Close() // it may have ended before
	err := p.process.Wait()
	if err != nil {
		err = fmt.Errorf("taskbench: %s: %w: %s", p.name, err, p.problems)
	}
	return errors.Join(err, p.program.Close())
}

// Run implements System.
func (p *peer) Run(ctx context.Context, graphs []*Schedule) (Result, error) {
	stop := context.AfterFunc(ctx, func() { p.process.Process.Kill() })
	defer stop()
	var text bytes.Buffer
	fmt.Fprintln(&text, len(graphs))
	for _, s := range graphs {
		s.write(&text)
	}
	if _, err := fmt.Fprintf(p.input, "%d\n%s", text.Len(), &text); err != nil {
		return Result{}, fmt.Errorf("taskbench: %s has ended: %w", p.name, err)
	}
	if !p.answers.Scan() {
		return Result{}, errors.Join(context.Cause(ctx), fmt.Errorf("taskbench: %s has ended without a result: %w", p.name, p.answers.Err()))
	}
	return parseAnswer(p.name, p.answers.Text())
}

// ErrPeer is a peer in C that has found something wrong.
var ErrPeer = errors.New("taskbench: wrong run")

// parseAnswer reads the line of a peer: seconds, tasks and checksum, or what was wrong.
func parseAnswer(name, line string) (r Result, err error) {
	var seconds float64
	if n, _ := fmt.Sscanf(line, "done %g %d %x", &seconds, &r.Tasks, &r.Checksum); n != 3 {
		return r, fmt.Errorf("%w: %s says %q", ErrPeer, name, line)
	}
	r.Elapsed = time.Duration(seconds * float64(time.Second))
	return r, nil
}

// write writes the schedule as numbers, for peers/schedule.h.
func (s *Schedule) write(w *bytes.Buffer) {
	list := func(columns []int) {
		fmt.Fprint(w, len(columns))
		for _, c := range columns {
			w.WriteByte(' ')
			w.WriteString(strconv.Itoa(c))
		}
		w.WriteByte('\n')
	}
	list([]int{s.Steps, s.Width, s.sets, s.Set(0), s.Fields, int(s.Kernel.Type), s.Kernel.Iterations, s.Kernel.Samples, s.pairs(), s.Scratch})
	for _, col := range s.columns {
		list([]int{col.first, col.last})
		list(col.start)
		for _, inputs := range col.inputs {
			list(inputs)
		}
	}
	for _, n := range s.loads {
		w.WriteString(strconv.Itoa(int(n)))
		w.WriteByte('\n')
	}
}
