package orwl

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

const (
	largeWords  = 1 << 17 // 1 MiB
	largeRounds = 40
)

// large is a program whose tasks, on two nodes, write a large resource in turn, and give
// it another size now and then. Node 0 gets what is left of it.
func large(n *Nodes) ([]uint64, error) {
	rt, err := New(Options{Nodes: n, Log: silent})
	if err != nil {
		return nil, err
	}
	r := rt.Resource("r", 8*largeWords)
	for i := range 2 {
		task := rt.Task(name(i)).On(i)
		a := task.Write(r)
		task.Each(largeRounds, func(round int) error {
			if size := largeSize(i, round); size > 0 {
				if err := a.Place().Resize(8 * size); err != nil {
					return err
				}
			}
			largeStep(Write[uint64](a), i)
			return nil
		})
	}
	if err := rt.Run(context.Background()); err != nil || n.Number() != 0 {
		return nil, err
	}
	return Values[uint64](context.Background(), r)
}

// largeSize is the size that a task gives the resource in a round, in words, 0 for the
// one that it has.
func largeSize(task, round int) int {
	if round%4 != task {
		return 0
	}
	return []int{largeWords, 100, largeWords / 2, 3 * largeWords}[round/4%4]
}

func largeStep(words []uint64, task int) {
	for i := range words {
		words[i] = words[i]*uint64(2*task+3) + uint64(i+task)
	}
}

// largeAlone is what is left if the tasks run one after another.
func largeAlone() []uint64 {
	words := make([]uint64, largeWords)
	for round := range largeRounds {
		for task := range 2 {
			if size := largeSize(task, round); size > 0 {
				words = append(words[:min(size, len(words))], make([]uint64, max(0, size-len(words)))...)
			}
			largeStep(words, task)
		}
	}
	return words
}

// TestLargeResources lets nodes of one machine lend each other large resources, within
// one process and between two, with what they share and without: all is bit for bit what
// it is when the tasks run one after another.
func TestLargeResources(t *testing.T) {
	want := largeAlone()
	for _, how := range []string{"shared", "remote"} {
		t.Run("processes/"+how, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			address := make(chan string, 1)
			got := make(chan []uint64, 1)
			go func() {
				n, err := Join(context.Background(), largeOptions(launch.Place{Nodes: 2, Report: func(a string) error { address <- a; return nil }}, how))
				var words []uint64
				if err == nil {
					words, err = large(n)
				}
				if err == nil {
					err = n.Close(context.Background())
				}
				if err != nil {
					t.Error(err)
				}
				got <- words
			}()
			other := exec.Command(self, how, <-address)
			other.Env = append(os.Environ(), roleVariable+"=large")
			other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			other.Stderr = os.Stderr
			out, err := other.StdoutPipe()
			if err == nil {
				err = other.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			shares, _ := bufio.NewReader(out).ReadString('\n')
			if err := other.Wait(); err != nil {
				t.Error(err)
			}
			if !slices.Equal(<-got, want) {
				t.Error("other bytes are left")
			}
			if strings.TrimSpace(shares) != fmt.Sprint(how == "shared") {
				t.Errorf("the other process has mapped this one's memory: %q", shares)
			}
		})
	}
	t.Run("one process", func(t *testing.T) {
		nodes := crew(t, 2)
		each(nodes, func(i int, n *Nodes) {
			if words, err := large(n); err != nil || i == 0 && !slices.Equal(words, want) {
				t.Errorf("node %d: other bytes are left, or %v", i, err)
			}
		})
		disband(t, nodes)
	})
}

func largeOptions(p launch.Place, how string) JoinOptions {
	p.Listen = "127.0.0.1:0"
	return JoinOptions{Place: &p, Lease: time.Minute, Remote: how == "remote", Log: silent}
}

func init() {
	actors["large"] = func() int {
		n, err := Join(context.Background(), largeOptions(launch.Place{Node: 1, Nodes: 2, Root: os.Args[2]}, os.Args[1]))
		if err == nil {
			_, err = large(n)
		}
		if err == nil {
			var maps []byte
			maps, err = os.ReadFile("/proc/self/maps")
			// Its own it has to write, too.
			fmt.Println(slices.ContainsFunc(strings.Split(string(maps), "\n"), func(line string) bool {
				return strings.Contains(line, "memfd:orwl arena") && strings.Contains(line, " r--s ")
			}))
		}
		if err == nil {
			err = n.Close(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}
