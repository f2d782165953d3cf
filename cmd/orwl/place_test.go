package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
)

// graphFile writes a graph for orwl place and returns its path.
func graphFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "graph")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPlace(t *testing.T) {
	pairs := graphFile(t, "# who talks to whom\nleft out 5\n\nin right 7 # heavy\nleft right 1\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-h"}, []string{"-graph", "-why"}},
		{nil, []string{"256 tasks, 480 links"}},
		{[]string{"-topology", "node:4 core:4", "-graph", "grid:64x64"}, []string{
			"4096 tasks, 8064 links of weight 8064, on node:4 core:4 (16 ranks, at most 256 on each)",
			"blocks in order  1152          7104           768              192",
			"round robin      4992          4032          3072              960"}},
		{[]string{"-topology", "core:4", "-graph", "ring:16"}, []string{"16 tasks, 16 links", "as placed           4            12                4"}},
		{[]string{"-topology", "group:2 node:2", "-graph", "ring:16"}, []string{"on group:2 node:2 (4 ranks, at most 4 on each)", "same node ×0  same group ×1  same machine ×2"}},
		{[]string{"-topology", "core:4", "-graph", "ring:2"}, []string{"2 tasks, 1 link of weight 2"}},
		{[]string{"-topology", "core:4", "-graph", "ring:1"}, []string{"1 task, 0 links"}},
		{[]string{"-topology", "core:2", "-graph", pairs}, []string{"4 tasks, 3 links of weight 13, on core:2 (2 ranks, at most 2 on each)", "as placed           1            12                1"}},
		{[]string{"-topology", "core:2", "-graph", pairs, "-why"}, []string{"weight that stays", "neighbours from near to far", "right "}},
		{[]string{"-topology", "core:2", "-graph", pairs, "-why", "-task", "left"}, []string{"Task left is on rank", "  the rest of machine       1    17%    100%     1  right"}},
		{[]string{"-topology", "node:2 core:2", "-graph", "grid:4x4", "-why", "-task", "3,2"}, []string{"Task 3,2 is on rank", "no rank would cost it less"}},
	} {
		code, out, complaints := try(t, append([]string{"place"}, c.args...)...)
		if code != command.Done {
			t.Errorf("%q: exit code %d\n%s", c.args, code, complaints)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q: lacks %q:\n%s", c.args, want, out)
			}
		}
	}
}

func TestPlaceMistakes(t *testing.T) {
	file := func(text string) []string { return []string{"-graph", graphFile(t, text)} }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-topology", "nod:2"}, `did you mean "node"?`},
		{[]string{"-graph", "grid:4"}, "want grid:WxH, as in grid:64x64"},
		{[]string{"-graph", "grid:0x4"}, "want grid:WxH"},
		{[]string{"-graph", "grid:4096x4096"}, "up to 4194304 tasks"},
		{[]string{"-graph", "ring:x"}, "want ring:N, as in ring:64"},
		{[]string{"-graph", "ring:0"}, "want ring:N"},
		{[]string{"-graph", "gird:4x4"}, `"gird:4x4" is not grid:WxH, not ring:N, and no file`},
		{file("a b 1\na b\n"), ":2: 2 words, want TASK TASK WEIGHT"},
		{file("# a\na b -1\n"), `:2: weight "-1", want a whole number`},
		{file("a b 1.5\n"), `:1: weight "1.5"`},
		{file("a b 1\n\nb b 1\n"), ":3: b is linked with itself"},
		{file("a b 1\n" + strings.Repeat("x", 1<<17)), ":2: bufio.Scanner: token too long"},
		{file("# nothing\n"), "no task in it"},
		{file("a b 9223372036854775807\n"), "makes the sum of all weights too large"},
		{[]string{"-task", "1,1"}, "-task 1,1 says nothing without -why"},
		{[]string{"-why", "-task", "99,1"}, `unknown task "99,1": tasks are called 0,0 1,0`},
	} {
		code, out, complaints := try(t, append([]string{"place"}, c.args...)...)
		if code != command.Misused || !strings.Contains(complaints, c.want) || out != "" {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s%s", c.args, code, command.Misused, c.want, complaints, out)
		}
	}
}
