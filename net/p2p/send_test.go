package p2p

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
)

func TestSend(t *testing.T) {
	t.Parallel()
	nodes := run(t, 2, nil)
	type parcel struct {
		from         int
		header, bulk []byte
	}
	got := make(chan parcel, 100)
	for _, n := range nodes {
		receive(t, n, func(from int, header, bulk []byte) error {
			got <- parcel{from, bytes.Clone(header), bytes.Clone(bulk)}
			return nil
		})
	}
	for from, n := range nodes {
		for to := range nodes {
			for _, size := range []int{0, 1, 8 << 10, 8<<10 + 1, 1 << 20, 3<<20 + 7} {
				bulk := bytes.Repeat([]byte{byte(size), byte(from)}, size)[:size]
				header := fmt.Appendf(nil, "%d to %d", from, to)
				if err := n.Send(to, 1, header, bulk, false); err != nil {
					t.Fatal(err)
				}
				p := await(t, got, "a parcel")
				if p.from != from || !bytes.Equal(p.header, header) || !bytes.Equal(p.bulk, bulk) {
					t.Errorf("%d bytes from %d to %d: came from %d as %q with %d bytes", size, from, to, p.from, p.header, len(p.bulk))
				}
			}
		}
	}
}

// Parcels that come before their receiver are handed to it first, in order.
func TestEarlyParcels(t *testing.T) {
	nodes := run(t, 2, nil)
	const parcels = 200
	for i := range parcels {
		if err := nodes[i%2].Send(1, 1, numbered(i), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string, parcels)
	var last [2]int
	receive(t, nodes[1], func(from int, header, _ []byte) error {
		i, err := strconv.Atoi(string(header))
		if err != nil || i < last[from] || i%2 != from {
			t.Errorf("%q of node %d came after %d", header, from, last[from])
		}
		last[from] = i
		got <- string(header)
		return nil
	})
	for range parcels {
		await(t, got, "a parcel")
	}
	if err := nodes[1].Receive(1, Receiver{Take: func(int, []byte, []byte) error { return nil }}); err == nil {
		t.Error("a channel has two receivers")
	}
}

// Not everything is held: memory is bounded.
func TestTooManyEarlyParcels(t *testing.T) {
	nodes := run(t, 2, nil)
	lost := make(chan error, 1)
	nodes[1].OnLoss(func(_ int, why error) { lost <- why })
	for range mostHeld>>20 + mostFaults {
		if err := nodes[0].Send(1, 1, nil, make([]byte, 1<<20), true); err != nil && !errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
	}
	if err := await(t, lost, "the loss"); !errors.Is(err, ErrProtocol) {
		t.Errorf("lost by %v, want ErrProtocol", err)
	}
}

// A receiver that keeps the memory of one block gives the memory of another. The next block is read
// to there, if it has the same size.
func TestSwap(t *testing.T) {
	t.Parallel()
	nodes := run(t, 2, nil)
	type arrival struct {
		memory *byte
		whole  bool
	}
	got := make(chan arrival, 1)
	var kept [][]byte
	err := nodes[1].Receive(1, Receiver{
		Take: func(_ int, _, bulk []byte) error {
			got <- arrival{nil, bytes.Equal(bulk, filling(9, len(bulk)))}
			return nil
		},
		Swap: func(from int, header, bulk []byte) ([]byte, error) {
			got <- arrival{&bulk[0], from == 0 && string(header) == "here" && bytes.Equal(bulk, filling(9, len(bulk)))}
			kept = append(kept, bulk)
			if n := len(kept); n > 1 && len(kept[n-2]) == len(bulk) {
				return kept[n-2], nil
			}
			return make([]byte, len(bulk)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var at []*byte
	for i, size := range []int{100, loan.Worthwhile, loan.Worthwhile, loan.Worthwhile, 1 << 20, 1 << 20, 1 << 20, 8 << 20} {
		if err := nodes[0].Send(1, 1, []byte("here"), filling(9, size), true); err != nil {
			t.Fatal(err)
		}
		a := await(t, got, "a parcel")
		if !a.whole || (a.memory == nil) != (size < loan.Worthwhile) {
			t.Errorf("parcel %d, of %d bytes: swapped %t, whole %t", i, size, a.memory != nil, a.whole)
		}
		at = append(at, a.memory)
	}
	if at[3] != at[1] || at[6] != at[4] {
		t.Error("what was given back is not used again")
	}
	if at[2] == at[1] || at[5] == at[4] {
		t.Error("what was kept is used again")
	}
}

func TestSendWhatCannotBeSent(t *testing.T) {
	nodes := run(t, 2, func(o *Options) { o.Backlog = lane.MostKept })
	block := make(chan struct{})
	receive(t, nodes[1], func(int, []byte, []byte) error { <-block; return nil })
	t.Cleanup(func() { close(block) })
	for _, err := range []error{
		nodes[0].Send(2, 1, nil, nil, false),
		nodes[0].Send(-1, 1, nil, nil, false),
		nodes[0].Send(1, 1, make([]byte, MaxParcelHeader+1), nil, false),
	} {
		if err == nil {
			t.Error("sent")
		}
	}
	if err := nodes[0].Send(1, 1, make([]byte, MaxParcelHeader), nil, false); err != nil {
		t.Errorf("the largest header: %v", err)
	}
	var err error
	for range 4 * lane.MostKept >> 20 {
		if err = nodes[0].Send(1, 1, nil, make([]byte, 1<<20), true); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrBacklog) {
		t.Errorf("far too much to a node that takes nothing: %v, want ErrBacklog", err)
	}
}

// TestMany has all nodes speak to all at once.
func TestMany(t *testing.T) {
	t.Parallel()
	count := rings.Of(8, 16, 16)
	nodes := run(t, count, nil)
	got := make(chan int, count*count)
	for _, n := range nodes {
		receive(t, n, func(from int, _, _ []byte) error { got <- from; return nil })
	}
	for _, n := range nodes {
		for to := range nodes {
			if err := n.Send(to, 1, nil, nil, false); err != nil {
				t.Error(err)
			}
		}
	}
	of := make([]int, count)
	for range count * count {
		of[await(t, got, "a parcel")]++
	}
	for i, n := range of {
		if n != count {
			t.Errorf("%d parcels of node %d came, want %d", n, i, count)
		}
	}
}
