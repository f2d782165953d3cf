package p2p

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if play := os.Getenv(roleVariable); play != "" {
		os.Exit(actors[play]())
	}
	// Many tests wait for other processes, or for a lease. A user's -parallel overrides this.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience ends a test that hangs. No test depends on it.
const patience = time.Minute

// unhurried is a lease for tests in which no node is lost by silence: a machine that has
// more to do than it can does not find the time for heartbeats.
const unhurried = patience

// hurried is a lease for tests of real silence, which wait until it is over.
const hurried = 2 * standardLease

// inTouch is the lease of tests in which a node is reached anew while a stream stands still. A node
// tries that after a second and a half, and has seven more for it.
func inTouch(o *Options) { o.Lease, o.Skew, o.Beat = 6*time.Second, 3*time.Second, standardSkew/2 }

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// run starts a run of so many nodes in this process. Each is closed in the end.
func run(t testing.TB, nodes int, change func(o *Options)) []*Node {
	t.Helper()
	all := make([]*Node, nodes)
	errs := make([]error, nodes)
	root := make(chan string, 1)
	var joining sync.WaitGroup
	join := func(i int, o Options) {
		o.Remote = true     // a test is about lanes, unless it says otherwise
		o.Lease = unhurried // and not silence
		if change != nil {
			change(&o)
		}
		joining.Go(func() { all[i], errs[i] = Join(soon(t), o) })
	}
	join(0, Options{Number: 0, Nodes: nodes, Key: testKey, Listening: func(a string) { root <- a }})
	address := <-root
	for i := 1; i < nodes; i++ {
		join(i, Options{Number: i, Nodes: nodes, Key: testKey, Root: address})
	}
	joining.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("node %d: %v", i, err)
		}
	}
	t.Cleanup(func() { closeAll(t, all...) })
	return all
}

// closeAll closes nodes together, as a run ends.
func closeAll(t testing.TB, nodes ...*Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var closing sync.WaitGroup
	for _, n := range nodes {
		closing.Go(func() {
			if err := n.Close(ctx); err != nil {
				t.Errorf("closing node %d: %v", n.Number(), err)
			}
		})
	}
	closing.Wait()
}

var testKey = []byte("a key that nobody else has")

// roleVariable says what a test binary that was started by a test plays.
const roleVariable = "ORWL_P2P_TEST_ROLE"

var actors = map[string]func() int{}

// await returns what a channel brings, or ends the test.
func await[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// numbered are parcels' headers whose order can be checked.
func numbered(i int) []byte { return fmt.Appendf(nil, "%d", i) }

// receive has f take the parcels of channel 1.
func receive(t testing.TB, n *Node, f func(from int, header, bulk []byte) error) {
	t.Helper()
	if err := n.Receive(1, Receiver{Take: f}); err != nil {
		t.Fatal(err)
	}
}
