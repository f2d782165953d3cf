package orwl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/launch"
)

func init() {
	actors["hangs"] = func() int {
		at, err := strconv.Atoi(os.Args[2])
		if err == nil {
			err = hangingNode(os.Args[1], at, regexp.MustCompile(os.Args[3]))
		}
		fmt.Fprintln(os.Stderr, "ended:", err)
		return 1
	}
}

// hangingNode is a node of a ring of tasks, one on each node: task i reads what task i-1 has written. The node at hangs in some
// way. Each node says when it names the culprit, and what it has said before: on a slow machine something else may stand still for
// a moment.
func hangingNode(how string, at int, culprit *regexp.Regexp) error {
	ctx := context.Background()
	n, err := Join(ctx, JoinOptions{})
	if err != nil {
		return err
	}
	rt, err := New(Options{Nodes: n, Stall: -1})
	if err != nil {
		return err
	}
	for i := range n.Count() {
		rt.Resource(name(i), 8)
	}
	for i := range n.Count() {
		task := rt.Task("ring " + name(i)).On(i)
		task.Read(rt.Lookup(name((i + n.Count() - 1) % n.Count())))
		task.Write(rt.Lookup(name(i)))
		task.Each(-1, func(round int) error {
			if i != at || round < 5 {
				return nil
			}
			switch how {
			case "waits":
				blocks()
			case "stops":
				return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
			return nil
		})
	}
	go func() {
		for last := ""; ; runtime.Gosched() {
			why := rt.InspectAll(ctx).Why()
			if why.Stands && why.Node == at && culprit.MatchString(why.Text) {
				fmt.Println("why:", why)
				return
			}
			if why.Stands && why.Text != last {
				last = why.Text
				fmt.Println("before:", last)
			}
		}
	}()
	if how == "late" && n.Number() == at {
		select {}
	}
	return rt.Run(ctx)
}

func blocks() { <-make(chan struct{}) }

// A hang is planted on one of three processes, and each process that runs names it in the same line.
func TestWhyOnNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how, want string
		names     int // how many nodes name the culprit
		always    bool
	}{
		{how: "waits", names: 3, always: true, want: `^node K \(process \d+ on .+\): task ring N works in round 5 for [0-9.ms]+, ` +
			`at orwl.blocks \(why_linux_test.go:[0-9]+, chan receive\), and holds [abc], [abc]; 2 tasks wait for it: ring [abc] \(node [012]\) ──▶ .*ring N \(node K\)$`},
		{how: "stops", names: 2, want: `^node K \(process \d+ on .+\) does not answer for [0-9.ms]+(, and is suspected)?; 2 tasks wait for it: .* ──▶ node K$`},
		{how: "late", names: 3, want: `^node K \(process \d+ on .+\) has not called Run; 2 nodes cannot begin before: node [012] ──▶ node K$`},
	} {
		for at := range 3 {
			t.Run(fmt.Sprint(c.how, " ", at), func(t *testing.T) {
				if !c.always || at != 1 {
					rings.Needs(t, rings.Change)
				}
				t.Parallel()
				planted(t, c.how, at, c.names, strings.NewReplacer("K", fmt.Sprint(at), "N", name(at)).Replace(c.want))
			})
		}
	}
}

// planted runs three processes. One of them hangs. The run ends when as many processes as names says have named that one.
func planted(t *testing.T, how string, at, names int, want string) {
	ctx, cancel := context.WithTimeout(t.Context(), chaosPatience)
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- launch.Spawn(ctx, launch.Run{
			Nodes: 3, Program: os.Args[0], Args: []string{how, fmt.Sprint(at), want}, Env: []string{roleVariable + "=hangs", "ORWL_LEASE=10m"},
			Stdout: w, Stderr: w, Grace: 50 * time.Millisecond,
		})
		w.Close()
	}()
	var said []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "] why: ") {
			if names--; names == 0 {
				cancel()
			}
		}
	}
	if <-ended; names > 0 {
		t.Errorf("%d nodes have not named %s\n%s", names, want, strings.Join(said, "\n"))
	}
}
