package taskbench

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// Pair names a task. The output of a task is its pair, as often as it fits.
type Pair struct{ Step, Column int64 }

const pairBytes = int(unsafe.Sizeof(Pair{}))

func (p Pair) String() string { return fmt.Sprintf("step %d, column %d", p.Step, p.Column) }

// pairs is how many pairs an output has.
func (s *Schedule) pairs() int { return s.Output / pairBytes }

// CorruptError is an input of a task that is not the output that it has to read.
type CorruptError struct {
	Graph     int
	Task      Pair
	Input, At int // the number of the input, and of the pair in it
	Got, Want Pair
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("taskbench: graph %d: the task of %v reads a wrong output: pair %d of input %d names %v, and not %v",
		e.Graph, e.Task, e.At, e.Input, e.Got, e.Want)
}

// corrupt is the error of an input.
func (r *runner) corrupt(step, input, at int, got, want Pair) error {
	return &CorruptError{r.schedule.Number, Pair{int64(step), int64(r.column)}, input, at, got, want}
}

// runner runs tasks of one column, one at a time. Its owner does three things in each: it
// checks the inputs, adds each to the checksum, and calls finish.
type runner struct {
	schedule *Schedule
	column   int
	hash     uint64 // of the inputs so far
	tally    tally
	_        [64]byte // other runners are in other cache lines
}

// tally is what runners have done. The order of the tasks makes no difference to a sum of them.
type tally struct {
	tasks, sum uint64
	product    float64 // keeps the kernel from being left out
}

func (t *tally) add(o tally) {
	t.tasks += o.tasks
	t.sum += o.sum
	t.product = math.Max(t.product, o.product)
}

// read adds an input to the checksum.
func (r *runner) read(p Pair) { r.hash = mix(r.hash, p) }

// mix adds a pair to a hash. The order makes a difference.
func mix(hash uint64, p Pair) uint64 {
	hash = (hash ^ uint64(p.Step<<32+p.Column)) * 0x9e3779b97f4a7c15
	return bits.RotateLeft64(hash, 31)
}

// check compares the inputs with what the task has to read, and adds them to the checksum.
func (r *runner) check(step int, inputs [][]Pair) error {
	for i, d := range r.schedule.inputsOf(step, r.column) {
		want := Pair{int64(step - 1), int64(d)}
		if at := slices.IndexFunc(inputs[i], func(p Pair) bool { return p != want }); at >= 0 {
			return r.corrupt(step, i, at, inputs[i][at], want)
		}
		r.read(want)
	}
	return nil
}

// finish writes the output of the task and does its kernel.
func (r *runner) finish(step int, output []Pair, scratch []byte) error {
	s := r.schedule
	own := Pair{int64(step), int64(r.column)}
	for i := range output {
		output[i] = own
	}
	n := s.load(step, r.column)
	switch s.Kernel.Type {
	case ComputeBound, LoadImbalance:
		r.tally.product = compute(n)
	case MemoryBound:
		memory(scratch, s.Kernel.Samples, n, step)
	}
	if len(scratch) > 0 && (scratch[0] != scratchMark || scratch[len(scratch)-1] != scratchMark) {
		return fmt.Errorf("taskbench: graph %d: the task of %v has a scratch that nobody has prepared, or that others write", s.Number, own)
	}
	r.tally.sum += mix(r.hash, own)
	r.tally.tasks++
	r.hash = 0
	return nil
}

// scratchMark is each byte of a scratch. The kernel copies it over itself.
const scratchMark = 0x5c

// prepare prepares the scratch of a column.
func prepare(scratch []byte) {
	for i := range scratch {
		scratch[i] = scratchMark
	}
}

// newRunners makes a runner and a scratch for each column.
func (s *Schedule) newRunners() (runners []runner, scratch [][]byte) {
	runners, scratch = make([]runner, s.Width), make([][]byte, s.Width)
	for c := range runners {
		runners[c] = runner{schedule: s, column: c}
		scratch[c] = make([]byte, s.Scratch)
		prepare(scratch[c])
	}
	return runners, scratch
}
