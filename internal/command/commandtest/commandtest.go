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

// Check checks a program, whose part of the page is in the file. It compares the flags with the flags of other programs on
// this page, and on others.
func Check(t *testing.T, p command.Program, file string, others ...string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	all := page
	for _, other := range others {
		text, err := os.ReadFile(other)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	for _, complaint := range p.Lint(all) {
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

// Examples checks that the help of each command fits a terminal, and shows an example whose flags there are.
func Examples(t *testing.T, p command.Program) {
	t.Helper()
	for _, c := range p.Commands {
		var said, complaints strings.Builder
		code := p.Execute([]string{"help", c.Name}, &said, &complaints)
		out := said.String()
		if code != command.Done {
			t.Errorf("help %s: exit code %d", c.Name, code)
		}
		for line := range strings.Lines(out) {
			if len([]rune(line)) > 100 {
				t.Errorf("help %s has a line of %d columns: %s", c.Name, len([]rune(line)), line)
			}
		}
		words := strings.Fields(c.Example)
		if len(words) == 0 {
			continue // Lint says so
		}
		if len(words) < 2 || words[0] != p.Name || words[1] != c.Name {
			t.Errorf("the example of %s is %q", c.Name, c.Example)
			continue
		}
		for _, w := range words[2:] {
			if w == "--" {
				break
			}
			if strings.HasPrefix(w, "-") && !strings.Contains(out, "\n  "+w) {
				t.Errorf("the example of %s has the flag %s, which its help does not have", c.Name, w)
			}
		}
	}
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
