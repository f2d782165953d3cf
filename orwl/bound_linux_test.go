package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/topology/host"
	"github.com/orwl/go-orwl/orwl/launch"
)

// mayUse is the CPUs that all threads of this process may use, as the system says it.
func mayUse() string {
	threads, _ := os.ReadDir("/proc/self/task")
	seen := make(map[string]bool)
	for _, t := range threads {
		text, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/status") // nothing if the thread has ended
		if _, list, ok := strings.Cut(string(text), "Cpus_allowed_list:\t"); ok {
			list, _, _ = strings.Cut(list, "\n")
			seen[list] = true
		}
	}
	var all []string
	for list := range seen {
		all = append(all, list)
	}
	return strings.Join(all, " and ")
}

func init() {
	actors["bound"] = func() int {
		ctx := context.Background()
		before, during := mayUse(), ""
		n, err := Join(ctx, JoinOptions{Log: silent})
		if err != nil {
			return 1
		}
		rt, err := New(Options{Nodes: n, Log: silent})
		if err != nil {
			return 1
		}
		r := rt.Resource("r", 8)
		for i := range 2 {
			task := rt.Task(fmt.Sprint("t", i)).On(i)
			task.Write(r)
			task.Each(100, func(round int) error {
				if round == 50 {
					during = mayUse()
				}
				return nil
			})
		}
		if err := errors.Join(rt.Run(ctx), n.Close(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Printf("%s, %s, %s\n", before, during, mayUse())
		return 0
	}
}

// TestNodesDivideCPUs starts two nodes on this machine. While tasks run, each has its own CPUs, and before and after it has all.
func TestNodesDivideCPUs(t *testing.T) {
	t.Parallel()
	tree, err := host.Detect()
	if err != nil || tree.Ranks() < 2 {
		t.Skip("needs two CPUs")
	}
	var out bytes.Buffer
	err = launch.Spawn(t.Context(), launch.Run{
		Nodes: 2, Program: os.Args[0], Env: []string{roleVariable + "=bound"}, Stdout: &out, Stderr: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	during := make(map[string]bool)
	for line := range strings.Lines(out.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "] ")
		said := strings.Split(text, ", ")
		if len(said) != 3 || said[0] != said[2] || said[1] == said[0] || strings.Contains(said[1], "and") {
			t.Errorf("a node says %q", line)
			continue
		}
		during[said[1]] = true
	}
	if len(during) != 2 {
		t.Errorf("the nodes had the CPUs %v", during)
	}
}
