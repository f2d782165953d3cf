package p2p

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/rings"
)

func init() { actors["again"] = playAgain }

// playAgain is a node that comes again whenever it is apart. It says in which epochs it is, and ends with its input.
func playAgain() int {
	number, _ := strconv.Atoi(os.Getenv("ORWL_P2P_TEST_NUMBER"))
	nodes, _ := strconv.Atoi(os.Getenv("ORWL_P2P_TEST_NODES"))
	lease, _ := time.ParseDuration(os.Getenv("ORWL_P2P_TEST_LEASE"))
	ctx, cancel := context.WithCancel(context.Background())
	n, err := Join(ctx, Options{
		Number: number, Nodes: nodes, Key: testKey, Root: os.Getenv("ORWL_P2P_TEST_ROOT"), Listen: os.Getenv("ORWL_P2P_TEST_LISTEN"),
		Lease: lease, Remote: true, Log: slog.New(printed{}), Listening: func(address string) { fmt.Println("listens", address) },
	})
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		}
		cancel()
	}()
	for err == nil {
		n.OnEpoch(func(e Epoch) { fmt.Println("epoch", e.Number, e.Members()) })
		select {
		case <-n.isApart():
			fmt.Println("apart")
			n, err = n.Again(ctx)
		case <-ctx.Done():
			return 0
		}
	}
	fmt.Println("failed", err)
	return 1
}

// playsAgain is the command of node i of some. It listens there.
func playsAgain(cmd *exec.Cmd, i, nodes int, root, listen string) *exec.Cmd {
	cmd.Env = append(os.Environ(), roleVariable+"=again", fmt.Sprint("ORWL_P2P_TEST_NUMBER=", i), fmt.Sprint("ORWL_P2P_TEST_NODES=", nodes),
		"ORWL_P2P_TEST_LEASE="+hurried.String(), "ORWL_P2P_TEST_ROOT="+root, "ORWL_P2P_TEST_LISTEN="+listen)
	return cmd
}

// begin starts nodes, and waits until each is in epoch 1.
func begin(t *testing.T, nodes int, command func(i int, root string) *exec.Cmd) []*actor {
	t.Helper()
	all, root := make([]*actor, nodes), ""
	for i := range all {
		all[i] = startActor(t, command(i, root))
		if line := all[i].says(t, "listens "); i == 0 {
			root = strings.TrimPrefix(line, "listens ")
		}
	}
	for _, a := range all {
		a.says(t, "epoch 1 ")
	}
	return all
}

// onHosts are nodes on hosts of their own.
func onHosts(t *testing.T, nodes int) (*netns.Network, []*actor) {
	net := netns.New(t, nodes)
	return net, begin(t, nodes, func(i int, root string) *exec.Cmd {
		return playsAgain(net.Command(i, os.Args[0]), i, nodes, root, net.Address(i)+":0")
	})
}

// together waits until all are in one epoch with all of them.
func together(t *testing.T, all []*actor) {
	t.Helper()
	last := make([]string, len(all))
	members := strings.Replace(fmt.Sprint([]int{0, 1, 2}[:len(all)]), "[", " [", 1)
	for i := range all {
		for !strings.HasSuffix(last[i], members) || last[i] != last[0] {
			at := i
			if last[0] != "" && number(last[0]) < number(last[i]) {
				at = 0
			}
			last[at] = all[at].says(t, "epoch ")
		}
	}
	t.Log("all are in ", last[0])
}

// number is the number in a line about an epoch.
func number(line string) (k int) {
	if f := strings.Fields(line); len(f) > 1 {
		k, _ = strconv.Atoi(f[1])
	}
	return k
}

// TestAgainAfterAStop stops node 0 of two until node 1 is apart. Then both are in one epoch again.
func TestAgainAfterAStop(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	all := begin(t, 2, func(i int, root string) *exec.Cmd {
		return playsAgain(exec.Command(os.Args[0]), i, 2, root, "127.0.0.1:0")
	})
	all[0].Process.Signal(syscall.SIGSTOP)
	all[1].says(t, "apart")
	all[0].Process.Signal(syscall.SIGCONT)
	together(t, all)
}

// TestAgainAllCutOff cuts off three nodes from each other until each is apart. Nobody goes on, and they form the next epoch.
func TestAgainAllCutOff(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	net, all := onHosts(t, 3)
	net.All(netns.Quality{Cut: true})
	for _, a := range all {
		a.says(t, "apart")
	}
	net.All(netns.Quality{})
	together(t, all)
}

// TestAgainOfAPair cuts the link between nodes 1 and 2 of three. The chair loses node 2, which comes again, and is not let
// in before node 1 hears it, too.
func TestAgainOfAPair(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	net, all := onHosts(t, 3)
	net.Both(1, 2, netns.Quality{Cut: true})
	all[2].says(t, "apart")
	all[0].says(t, "epoch 2 [0 1]")
	all[1].says(t, "epoch 2 [0 1]")
	if line := all[0].says(t, "logs node is not let in", "epoch "); line != "logs node is not let in" {
		t.Errorf("the link is cut, and node 0 says %q", line)
	}
	net.Both(1, 2, netns.Quality{})
	together(t, all)
}

// TestAgainWithoutOne cuts off three nodes from each other, and kills node 0 when all are apart. The other two are most of the
// last epoch, and form the next one.
func TestAgainWithoutOne(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	net, all := onHosts(t, 3)
	net.All(netns.Quality{Cut: true})
	for _, a := range all {
		a.says(t, "apart")
	}
	all[0].Process.Kill()
	net.All(netns.Quality{})
	for _, a := range all[1:] {
		for line := ""; !strings.HasSuffix(line, " [1 2]"); {
			line = a.says(t, "epoch ")
		}
	}
}
