package fair

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
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/internal/native"
)

//go:embed c/*.c c/*.h
var sources embed.FS

// Shop compiles peers, each once, and knows where our programs are.
type Shop struct {
	LLK23, Poisson string // the programs
	Workers        int    // threads and processes of each contender

	built   map[string]made
	checked bool // all peers of llk23 have its bits
}

// NewShop is a shop for all processors.
func NewShop(llk23, poisson string) *Shop {
	return &Shop{LLK23: llk23, Poisson: poisson, Workers: runtime.GOMAXPROCS(0), built: make(map[string]made)}
}

// made is a peer that was compiled, or why it was not.
type made struct {
	*native.Program
	err error
}

// Close removes what was compiled.
func (s *Shop) Close() error {
	var all error
	for _, m := range s.built {
		if m.err == nil {
			all = errors.Join(all, m.Program.Close())
		}
	}
	return all
}

// fusing are flags for a peer that is measured: its compiler may fuse a multiplication and an addition, as in a program
// that need not have our bits.
const fusing, rounding = "-ffp-contract=fast", "-ffp-contract=off"

// toolchain is what compiles a peer: MPI's compiler for llk23_mpi.c and so on, or C with OpenMP.
func toolchain(name string) (t native.Toolchain, header native.Header, flags []string) {
	if strings.HasSuffix(name, "_mpi") {
		return native.OpenMPI, native.Header{Name: "mpi.h", Debian: "libopenmpi-dev"}, []string{"-fopenmp-simd"}
	}
	return native.C, native.Header{Name: "omp.h", Debian: "gcc"}, []string{"-fopenmp"}
}

// build compiles c/NAME.c.
func (s *Shop) build(ctx context.Context, name, contract string) (*native.Program, error) {
	key := name + contract
	m, known := s.built[key]
	if !known {
		t, header, flags := toolchain(name)
		m.Program, m.err = t.Build(ctx, native.Source{
			Name: name, Files: sources, Main: "c/" + name + ".c", Headers: []native.Header{header}, Flags: append(flags, contract),
		})
		s.built[key] = m
	}
	return m.Program, m.err
}

// run runs a peer and returns its figure. It has as many threads or processes as there are workers.
func (s *Shop) run(ctx context.Context, name, contract string, args ...string) (float64, error) {
	p, err := s.build(ctx, name, contract)
	if err != nil {
		return 0, err
	}
	cmd := p.Command(ctx, s.Workers, args...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(s.Workers), "OMP_PROC_BIND=true", "GOMAXPROCS="+strconv.Itoa(s.Workers))
	return figureOf(cmd)
}

// peer is a contender in C.
func (s *Shop) peer(name, program string, args ...string) Contender {
	t, _, flags := toolchain(program)
	compiler := map[string]string{native.C.Name: "gcc", native.OpenMPI.Name: "mpicc"}[t.Name]
	form := strings.Join(append([]string{"lab/fair/c/" + program + ".c", strings.Join(args, " ") + ";", compiler, "-O3 -march=native", fusing}, flags...), " ")
	return Contender{name, form, func(ctx context.Context) (float64, error) { return s.run(ctx, program, fusing, args...) }}
}

// figure is how programs print theirs.
var figure = regexp.MustCompile(`([0-9.]+) (?:ns|us)\b|"ns_per_element": *([0-9.]+)`)

// figureOf runs a program, and returns the first figure that it prints.
func figureOf(cmd *exec.Cmd) (float64, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", cmd, err, bytes.TrimSpace(said.Bytes()))
	}
	found := figure.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%v prints no figure such as 1.5 ns: %s", cmd, text)
	}
	return strconv.ParseFloat(string(found[1])+string(found[2]), 64)
}

// Beside is a program by others that takes turns in a case. Its figure is the first number before ns or us that it prints.
type Beside struct{ Case, Name, Command string }

func (b Beside) contender() Contender {
	return Contender{b.Name, b.Command, func(ctx context.Context) (float64, error) {
		return figureOf(exec.CommandContext(ctx, "sh", "-c", b.Command))
	}}
}

// ReadBeside reads a line for each program: the case, a name without spaces, and the command for a shell. Empty lines,
// and lines that begin with #, say nothing.
func ReadBeside(r io.Reader) (all []Beside, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		words := strings.SplitN(text, " ", 3)
		if len(words) < 3 {
			return nil, fmt.Errorf("line %d: %q: want CASE NAME COMMAND", n, text)
		}
		all = append(all, Beside{words[0], words[1], words[2]})
	}
	return all, lines.Err()
}
