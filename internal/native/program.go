package native

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

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
