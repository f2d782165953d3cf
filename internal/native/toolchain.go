package native

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// Source is the text of a peer.
type Source struct {
	Name    string
	Files   fs.FS  // the file that is compiled, and the files that it includes
	Main    string // the file in Files that is compiled
	Headers []Header
	Flags   []string // after -O3 -march=native; libraries, too
}

// Program is a peer that was compiled.
type Program struct {
	dir, file string
	toolchain Toolchain
	launcher  string
}

// Build compiles a peer.
func (t Toolchain) Build(ctx context.Context, s Source) (_ *Program, err error) {
	found, err := t.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, h := range s.Headers {
		if err := includes(ctx, found.compiler, h); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	dir, err := os.MkdirTemp("", "orwl-peer-")
	if err != nil {
		return nil, err
	}
	p := &Program{dir: dir, file: filepath.Join(dir, "peer"), toolchain: t, launcher: found.launcher}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err := os.CopyFS(dir, s.Files); err != nil {
		return nil, err
	}
	args := append([]string{"-O3", "-march=native", "-std=gnu11", "-o", p.file, filepath.Join(dir, s.Main)}, s.Flags...)
	compiler := exec.CommandContext(ctx, found.compiler, args...)
	if text, err := compiler.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %v: %w\n%s", s.Name, compiler, err, text)
	}
	return p, nil
}

// Command starts the peer, as this many processes if its toolchain has a launcher. When ctx
// ends, the launcher is asked to end all of them.
func (p *Program) Command(ctx context.Context, processes int, args ...string) *exec.Cmd {
	words := append(p.toolchain.start(p.launcher, processes), p.file)
	words = append(words, args...)
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	return c
}

// Close removes what was compiled.
func (p *Program) Close() error { return os.RemoveAll(p.dir) }
