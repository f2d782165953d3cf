package commandtest

import (
	"flag"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/renameio/v2/maybe"

	"github.com/orwl/go-orwl/internal/command"
)

var rewrite = flag.Bool("rewrite", false, "write the page of commands anew")

// Check checks a program, whose part of the page is in the file.
func Check(t *testing.T, p command.Program, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for _, complaint := range p.Lint(page) {
		t.Error(complaint)
	}
	now := p.Page(page)
	switch {
	case now == page:
	case *rewrite:
		if err := maybe.WriteFile(file, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s shows another help of %s: run this test again with -rewrite", file, p.Name)
	}
	fullDisk(t, p)
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// fullDisk has the program print what it is on a full disk, which it must not call done.
func fullDisk(t *testing.T, p command.Program) {
	t.Helper()
	asked := [][]string{{"help"}, {"-h"}, {"version"}, {"man"}, {"completion", "bash"}}
	for _, c := range p.Commands {
		asked = append(asked, []string{"help", c.Name})
	}
	for _, args := range asked {
		var said strings.Builder
		if code := p.Execute(args, full{}, &said); code != command.Failed || !strings.Contains(said.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%s %s on a full disk: exit code %d, %q", p.Name, strings.Join(args, " "), code, said.String())
		}
	}
}
