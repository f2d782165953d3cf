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
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The peers in C are compiled when they are opened. A peer reads schedules from its input and
// answers each with a line, until the input ends.
//
//go:embed peers/*.c peers/*.h
var sources embed.FS

// native is a running peer.
type native struct {
	name     string
	dir      string
	process  *exec.Cmd
	input    io.WriteCloser
	answers  *bufio.Scanner
	problems *bytes.Buffer
}

// openOpenMP compiles and starts the peer with OpenMP tasks.
func openOpenMP(o Options) (System, error) {
	return openNative("openmp", "omp.h", []string{"gcc"}, func(program string) *exec.Cmd {
		c := exec.Command(program)
		c.Env = append(os.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(o.Workers))
		return c
	}, "-fopenmp")
}

// openMPI compiles and starts the peer with a process for each worker.
func openMPI(o Options) (System, error) {
	return openNative("mpi", "mpi.h", []string{"mpicc", "mpirun"}, func(program string) *exec.Cmd {
		args := []string{"-n", strconv.Itoa(o.Workers), "--oversubscribe", program}
		if os.Getuid() == 0 {
			args = append([]string{"--allow-run-as-root"}, args...)
		}
		return exec.Command("mpirun", args...)
	})
}

// openNative compiles a peer with the first of the tools, and starts it as run says. The peer
// includes a header that comes in a package of its own.
func openNative(name, header string, tools []string, run func(program string) *exec.Cmd, flags ...string) (_ *native, err error) {
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w: %s needs %s: %w", ErrMissing, name, tool, err)
		}
	}
	probe := exec.Command(tools[0], "-E", "-x", "c", "-")
	probe.Stdin = strings.NewReader("#include <" + header + ">\n")
	if text, err := probe.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s needs %s: %w: %s", ErrMissing, name, header, err, text)
	}
	p := &native{name: name, problems: new(bytes.Buffer)}
	if p.dir, err = os.MkdirTemp("", "taskbench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(p.dir))
		}
	}()
	if err := os.CopyFS(p.dir, sources); err != nil {
		return nil, err
	}
	program := filepath.Join(p.dir, name)
	args := append([]string{"-O3", "-march=native", "-std=gnu11", "-o", program}, flags...)
	compiler := exec.Command(tools[0], append(args, filepath.Join(p.dir, "peers", name+".c"))...)
	if text, err := compiler.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("taskbench: %v: %w\n%s", compiler, err, text)
	}
	p.process = run(program)
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
func (p *native) Close() error {
	p.input.Close() // it may have ended before
	err := p.process.Wait()
	if err != nil {
		err = fmt.Errorf("taskbench: %s: %w: %s", p.name, err, p.problems)
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// Run implements System.
func (p *native) Run(ctx context.Context, graphs []*Schedule) (Result, error) {
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
