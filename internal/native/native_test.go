package native

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// text is a peer that says how it was called.
const text = `
#include <stdio.h>
#include "greeting.h"
int main(int argc, char **argv) { printf("%s %s\n", GREETING, argv[1]); }
`

func source(main string) Source {
	return Source{Name: "greeter", Main: "c/main.c", Files: fstest.MapFS{
		"c/main.c":     {Data: []byte(main)},
		"c/greeting.h": {Data: []byte(`#define GREETING "hello"`)},
	}}
}

// TestToolchains builds a peer with each toolchain, and starts two processes where it can.
func TestToolchains(t *testing.T) {
	for _, toolchain := range []Toolchain{C, OpenMPI, MPICH} {
		t.Run(toolchain.Name, func(t *testing.T) {
			p, err := toolchain.Build(t.Context(), source(text))
			if errors.Is(err, ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			output, err := p.Command(t.Context(), 2, "peer").Output()
			want := "hello peer\n"
			if p.launcher != "" {
				want += want
			}
			if err != nil || string(output) != want {
				t.Errorf("it says %q, %v, want %q", output, err, want)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
				t.Errorf("after Close: %v, want that nothing is left", err)
			}
		})
	}
}

// TestMissing names what is not installed, and the package that has it.
func TestMissing(t *testing.T) {
	absent := Toolchain{Name: "Fortran", debian: "gfortran", tools: []tools{{"no-such-compiler", ""}}}
	_, err := absent.Build(t.Context(), source(text))
	want := "greeter: not installed: Fortran (Debian: gfortran)"
	if !errors.Is(err, ErrMissing) || err.Error() != want {
		t.Errorf("without a compiler: %v, want %s", err, want)
	}
	s := source(text)
	s.Headers = []Header{{"no_such_header.h", "libnone-dev"}}
	_, err = C.Build(t.Context(), s)
	if _, missing := C.find(t.Context()); missing != nil {
		t.Skip(missing)
	}
	want = "greeter: not installed: no_such_header.h (Debian: libnone-dev)"
	if !errors.Is(err, ErrMissing) || err.Error() != want {
		t.Errorf("without a header: %v, want %s", err, want)
	}
}

// TestOtherLauncher refuses a launcher of another MPI.
func TestOtherLauncher(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mpicc", "mpirun"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho Another MPI\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	if found, err := OpenMPI.find(t.Context()); !errors.Is(err, ErrMissing) {
		t.Errorf("found %v, %v, want ErrMissing", found, err)
	}
}

// TestWrongText has what the compiler says, and leaves nothing behind.
func TestWrongText(t *testing.T) {
	if _, err := C.find(t.Context()); err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	_, err := C.Build(t.Context(), source("int main() { return nothing; }"))
	if err == nil || errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a wrong text: %v, want the compiler's words", err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
