package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// ErrMissing is a compiler, a launcher or a header that is not installed.
var ErrMissing = errors.New("not installed")

// Toolchain is a compiler, and what starts its programs.
type Toolchain struct {
	Name  string
	tools []tools // the first that is installed is used
	// says is what the version of the launcher contains.
	says   string
	debian string
	start  func(launcher string, processes int) []string
}

// tools are two programs that belong together.
type tools struct{ compiler, launcher string }

// The toolchains.
var (
	C = Toolchain{
		Name: "C", debian: "gcc libc6-dev",
		tools: []tools{{"gcc", ""}, {"cc", ""}},
		start: func(string, int) []string { return nil },
	}
	OpenMPI = Toolchain{
		Name: "Open MPI", says: "Open MPI", debian: "openmpi-bin libopenmpi-dev",
		tools: []tools{{"mpicc.openmpi", "mpirun.openmpi"}, {"mpicc", "mpirun"}},
		start: startOpenMPI,
	}
	MPICH = Toolchain{
		Name: "MPICH", says: "HYDRA", debian: "mpich libmpich-dev",
		tools: []tools{{"mpicc.mpich", "mpiexec.mpich"}, {"mpicc", "mpiexec"}},
		start: func(launcher string, n int) []string { return []string{launcher, "-n", strconv.Itoa(n)} },
	}
)

// startOpenMPI lets more processes run than there are processors. They yield then.
func startOpenMPI(launcher string, n int) []string {
	words := []string{launcher, "-n", strconv.Itoa(n), "--oversubscribe", "--bind-to", "none"}
	if os.Getuid() == 0 {
		words = append(words, "--allow-run-as-root")
	}
	return words
}

// find returns the tools that are installed.
func (t Toolchain) find(ctx context.Context) (tools, error) {
	for _, pair := range t.tools {
		if _, err := exec.LookPath(pair.compiler); err != nil {
			continue
		}
		if pair.launcher == "" {
			return pair, nil
		}
		version, err := exec.CommandContext(ctx, pair.launcher, "--version").CombinedOutput()
		if err == nil && strings.Contains(string(version), t.says) {
			return pair, nil
		}
	}
	return tools{}, fmt.Errorf("%w: %s (Debian: %s)", ErrMissing, t.Name, t.debian)
}

// Header is a file that a peer includes, and that comes in a Debian package of its own.
type Header struct{ Name, Debian string }

// includes reports the header that the compiler does not find.
func includes(ctx context.Context, compiler string, h Header) error {
	probe := exec.CommandContext(ctx, compiler, "-E", "-x", "c", "-")
	probe.Stdin = strings.NewReader("#include <" + h.Name + ">\n")
	if probe.Run() == nil {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s (Debian: %s)", ErrMissing, h.Name, h.Debian)
}
