package p2p

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// neighbours starts a run of nodes that lend to each other what is sent from now on.
func neighbours(t testing.TB, nodes int, change func(o *Options)) []*Node {
	t.Helper()
	all := run(t, nodes, func(o *Options) {
		o.Remote = false
		if change != nil {
			change(o)
		}
	})
	lendAll(t, all)
	return all
}

// lendAll has nodes lend to each other what is sent from now on.
func lendAll(t testing.TB, all []*Node) {
	t.Helper()
	for _, n := range all {
		for _, p := range n.all() {
			if p != nil {
				n.offerOnce(p)
			}
		}
	}
	// An offer is taken before the first gathering is, and its answer before the
	// second.
	gatherAll(t, all)
	gatherAll(t, all)
	for _, n := range all {
		for _, p := range n.all() {
			if p != nil && lending(p.lending.Load()) != willing {
				t.Fatalf("node %d does not borrow from node %d", p.number, n.number)
			}
		}
	}
}

func gatherAll(t testing.TB, nodes []*Node) {
	t.Helper()
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			if _, err := n.Gather(soon(t), "all", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestLoans sends large bulk from everywhere to every kind of receiver.
func TestLoans(t *testing.T) {
	t.Parallel()
	counts := new(Counts)
	nodes := neighbours(t, 2, func(o *Options) { o.Counts, o.Backlog = counts, lane.MostKept })
	arrived := make(chan []byte, 1)
	take := func(_ int, header, bulk []byte) error {
		arrived <- bytes.Clone(bulk)
		return nil
	}
	receivers := []Receiver{
		{Take: take},
		{Take: func(int, []byte, []byte) error { return errors.New("not lent") },
			TakeLent: func(from int, header, bulk []byte, valid func() bool) error {
				defer func() {
					if !valid() {
						t.Error("what is lent is not valid")
					}
				}()
				return take(from, header, bulk)
			}},
	}
	for i, r := range receivers {
		if err := nodes[1].Receive(uint64(i)+1, r); err != nil {
			t.Fatal(err)
		}
	}
	own := nodes[0].Memory().Make(3<<20 + 7)
	sent := uint64(0)
	for channel := range receivers {
		for _, size := range []int{lane.DataFrom, 64 << 10, 1 << 20, len(own)} {
			for _, keep := range []bool{true, false} {
				for _, bulk := range [][]byte{own[:size], make([]byte, size)} {
					copy(bulk, filling(sent, size))
					want := bytes.Clone(bulk)
					if err := nodes[0].Pace(soon(t), 1); err != nil { // more is lent in all than may be under way
						t.Fatal(err)
					}
					if err := nodes[0].Send(1, uint64(channel)+1, nil, bulk, keep); err != nil {
						t.Fatal(err)
					}
					if !keep {
						clear(bulk)
					}
					if got := await(t, arrived, "a loan"); !bytes.Equal(got, want) {
						t.Errorf("channel %d, %d bytes, keep %t: other bytes came", channel+1, size, keep)
					}
					sent++
				}
			}
		}
	}
	if err := nodes[0].lane(1, false).Settled(soon(t)); err != nil {
		t.Fatal(err)
	}
	if lent := counts.Lent.Load(); lent != sent || counts.Borrowed.Load() != sent {
		t.Errorf("%d parcels, %d lent, %d borrowed", sent, lent, counts.Borrowed.Load())
	}
	nodes[0].Memory().Free(own)
}

// TestLoansOfBrokenStreams breaks streams while much is lent. Each parcel comes once,
// in order, and as it was sent, though its memory is used again as soon as it may be.
func TestLoansOfBrokenStreams(t *testing.T) {
	t.Parallel()
	const parcels = 50
	rounds := rings.Sampling(rings.Of[uint64](10, 40, 40), 4)
	counts := new(Counts)
	nodes := neighbours(t, 2, func(o *Options) { o.Counts = counts })
	arrived := make(chan struct{}, 2*parcels)
	for _, n := range nodes {
		next := uint64(0)
		check := func(_ int, header, bulk []byte, valid func() bool) error {
			number := binary.LittleEndian.Uint64(header)
			if number != next || !bytes.Equal(bulk, filling(number, len(bulk))) || !valid() {
				t.Errorf("node %d: parcel %d came, want %d, or it has other bytes", n.number, number, next)
			}
			next++
			arrived <- struct{}{}
			return nil
		}
		err := n.Receive(1, Receiver{TakeLent: check, Take: func(int, []byte, []byte) error { return errors.New("not lent") }})
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range rounds {
		var working sync.WaitGroup
		for _, n := range nodes {
			working.Go(func() {
				for i := round * parcels; i < (round+1)*parcels; i++ {
					size := lane.DataFrom + int(i%9)*20_000
					bulk := filling(i, size)
					if i%2 == 0 {
						bulk = n.Memory().Make(size)
						copy(bulk, filling(i, size))
					}
					if err := n.Send(1-n.number, 1, binary.LittleEndian.AppendUint64(nil, i), bulk, i%3 != 0); err != nil {
						t.Error(err)
					}
					if i%2 == 0 {
						n.Memory().Free(bulk)
					}
				}
			})
		}
		working.Go(func() { snap(nodes[0], nodes[1], transport.Control) })
		for range 2 * parcels {
			await(t, arrived, "a parcel")
		}
		working.Wait()
	}
	if counts.Resumes.Load() < rounds/2 {
		t.Errorf("%d streams were resumed, that is no test", counts.Resumes.Load())
	}
	if n := counts.Malformed.Load() + counts.Checksums.Load() + counts.Oversize.Load(); n > 0 {
		t.Errorf("%d frames of correct nodes were not taken", n)
	}
}

// inTake stops the receiver of what is lent to node 1.
func inTake(t *testing.T, nodes []*Node) (came, goOn chan struct{}, valid chan bool) {
	came, goOn, valid = make(chan struct{}, 1), make(chan struct{}), make(chan bool, 1)
	err := nodes[1].Receive(1, Receiver{
		Take: func(int, []byte, []byte) error { return nil },
		TakeLent: func(_ int, _, bulk []byte, check func() bool) error {
			came <- struct{}{}
			<-goOn
			if i := bytes.IndexFunc(bulk, func(r rune) bool { return r != 'a' }); i >= 0 {
				t.Errorf("byte %d has changed", i)
			}
			valid <- check()
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return came, goOn, valid
}

// TestLoanIsSettledWhenTaken looks at a loan while it is being taken: not all the
// heartbeats, nor a new stream, say that it has been.
func TestLoanIsSettledWhenTaken(t *testing.T) {
	nodes := neighbours(t, 2, nil)
	came, goOn, valid := inTake(t, nodes)
	own := nodes[0].Memory().Make(loan.Worthwhile)
	copy(own, bytes.Repeat([]byte("a"), loan.Worthwhile))
	if err := nodes[0].Send(1, 1, nil, own, true); err != nil {
		t.Fatal(err)
	}
	await(t, came, "the loan")
	there := nodes[1].lane(0, false)
	there.Acknowledge()
	if said, last := there.Taken(), nodes[0].lane(1, false).Next()-1; said != last-1 {
		t.Errorf("frame %d is being taken, and a hello says %d", last, said)
	}
	nodes[0].Memory().Free(own)
	for range 50 { // would be where it is, if it were free
		nodes[0].Memory().Make(loan.Worthwhile)[0] = 'b'
	}
	close(goOn)
	if !await(t, valid, "the end of Take") {
		t.Error("the loan is not valid")
	}
	here := nodes[0].lane(1, false)
	for there.Acknowledge(); here.Settled(soon(t)) != nil; {
		t.Fatal("never settled")
	}
	if again := nodes[0].Memory().Make(loan.Worthwhile); &again[0] != &own[0] {
		t.Error("acknowledged, and the memory is not used again")
	}
}

// TestLoanToWhoIsGivenUp gives a node up while it takes a loan. It can tell.
func TestLoanToWhoIsGivenUp(t *testing.T) {
	nodes := neighbours(t, 2, nil)
	came, goOn, valid := inTake(t, nodes)
	lost := make(chan error, 1)
	nodes[1].OnLoss(func(_ int, why error) { lost <- why })
	if err := nodes[0].Send(1, 1, nil, bytes.Repeat([]byte("a"), loan.Worthwhile), false); err != nil {
		t.Fatal(err)
	}
	await(t, came, "the loan")
	told := make(chan struct{})
	nodes[0].OnLoss(func(int, error) { close(told) })
	nodes[0].peer(1).lose(errSilent)
	await(t, told, "the loss")
	for range 50 { // would be where it is, if it were used again
		if b, _ := nodes[0].memory.Shared().Lend(bytes.Repeat([]byte("b"), loan.Worthwhile), false); b == nil {
			t.Fatal("no memory")
		}
	}
	close(goOn)
	if await(t, valid, "the end of Take") {
		t.Error("what is lent by who has given this node up is valid")
	}
	if err := await(t, lost, "the other's loss"); !errors.Is(err, ErrLost) {
		t.Errorf("lost by %v", err)
	}
}

// lendRaw sends a loan of whatever it says.
func (n *Node) lendRaw(kind transport.Kind, offset uint64, length int) error {
	f := wire.Loan{Parcel: wire.Parcel{Channel: 1}, Offset: offset, Length: length}
	return n.peer(1).lanes[kind].Lend(&f, new(loan.Block)) // which is never settled
}

// TestHostileLoans sends loans that no correct node sends, again and again, as a lane
// does what is not taken. Nothing faults, and the node is given up.
func TestHostileLoans(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for name, c := range map[string]struct {
		kind     transport.Kind
		offset   uint64
		length   int
		apart    bool
		oversize uint64
	}{
		"beyond":     {offset: uint64(loan.Size) - 10, length: 11},
		"before":     {offset: 0, length: 100},
		"far beyond": {offset: 1<<64 - 8, length: 16},
		"by data":    {kind: transport.Data, offset: most, length: 16},
		"too much":   {offset: most, length: most + 1, oversize: mostFaults},
		"not mapped": {offset: most, length: 16, apart: true},
	} {
		t.Run(name, func(t *testing.T) {
			counts := [2]*Counts{new(Counts), new(Counts)}
			change := func(o *Options) { o.Counts, o.MaxBulk = counts[o.Number], most }
			var nodes []*Node
			if c.apart {
				nodes = run(t, 2, change)
			} else {
				nodes = neighbours(t, 2, change)
			}
			receive(t, nodes[1], func(int, []byte, []byte) error { return nil })
			lost := make(chan error, 1)
			nodes[1].OnLoss(func(_ int, why error) { lost <- why })
			if err := nodes[0].lendRaw(c.kind, c.offset, c.length); err != nil {
				t.Fatal(err)
			}
			if err := await(t, lost, "the loss"); !errors.Is(err, ErrProtocol) {
				t.Errorf("lost by %v", err)
			}
			if n := counts[1].Oversize.Load(); n != c.oversize || n+counts[1].Malformed.Load() != mostFaults {
				t.Errorf("%d are counted as too large, %d as malformed", n, counts[1].Malformed.Load())
			}
		})
	}
}

// TestHostileOffers sends offers and answers that no correct node sends. Each closes a
// stream, and is counted.
func TestHostileOffers(t *testing.T) {
	counts := [2]*Counts{new(Counts), new(Counts)}
	nodes := neighbours(t, 2, func(o *Options) { o.Counts = counts[o.Number] })
	for i, send := range []func() []byte{
		func() []byte { nodes[0].offer(nodes[0].peer(1)); return nil }, // again
		func() []byte { return control.Message{Arena: &control.Arena{}}.Bytes() },
		func() []byte { return control.Message{Mapped: &control.Mapped{Mapped: true, Promises: true}}.Bytes() }, // again
		func() []byte {
			return pack.Encode(map[string]any{"version": control.Version, "mapped": map[string]any{"mapped": 2}})
		},
		func() []byte { return pack.Encode(map[string]any{"version": control.Version + 1, "mapped": nil}) },
	} {
		if header := send(); header != nil {
			if err := nodes[0].Send(1, ownChannel, header, nil, false); err != nil {
				t.Fatal(err)
			}
		}
		gatherAll(t, nodes)
		if n := counts[1].Malformed.Load(); n != uint64(i)+1 {
			t.Errorf("after %d of them, %d are counted", i+1, n)
		}
	}
	if err := nodes[1].Lost(0); err != nil {
		t.Error(err)
	}
}

// TestUnwilling has a node that shares nothing, or is on another machine: everything goes by
// the data lane.
func TestUnwilling(t *testing.T) {
	t.Parallel()
	for remote := range 3 {
		counts := new(Counts)
		nodes := run(t, 2, func(o *Options) {
			o.Remote, o.Counts = o.Number == remote, counts
			if remote == 2 {
				o.Machine = fmt.Sprintf("machine %d", o.Number)
			}
		})
		got := make(chan bool, 1)
		receive(t, nodes[1], func(_ int, _, bulk []byte) error {
			got <- bytes.Equal(bulk, filling(5, len(bulk)))
			return nil
		})
		for range 3 {
			if err := nodes[0].Send(1, 1, nil, filling(5, 1<<20), true); err != nil {
				t.Fatal(err)
			}
			if !await(t, got, "a parcel") {
				t.Error("other bytes came")
			}
			gatherAll(t, nodes)
			gatherAll(t, nodes)
		}
		if counts.Lent.Load()+counts.Neighbours.Load() > 0 || lending(nodes[0].peer(1).lending.Load()) != unwilling {
			t.Errorf("node %d shares nothing, or both are apart, and %d are lent to %d", remote, counts.Lent.Load(), counts.Neighbours.Load())
		}
	}
}

// TestLoansAreBounded lends to a node that takes nothing.
func TestLoansAreBounded(t *testing.T) {
	nodes := neighbours(t, 2, func(o *Options) { o.Backlog = lane.MostKept })
	block := make(chan struct{})
	receive(t, nodes[1], func(int, []byte, []byte) error { <-block; return nil })
	t.Cleanup(func() { close(block) })
	var err error
	for range 4 * lane.MostKept >> 20 {
		if err = nodes[0].Send(1, 1, nil, make([]byte, 1<<20), true); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrBacklog) {
		t.Errorf("far too much to a node that takes nothing: %v, want ErrBacklog", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := nodes[0].Pace(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Pace with a full backlog: %v", err)
	}
}

// TestLoansBetweenProcesses lends 1 MiB to another process, there and back, bit for
// bit; and then the other is killed while it reads.
func TestLoansBetweenProcesses(t *testing.T) {
	t.Parallel()
	root := make(chan string, 1)
	joined := make(chan error, 1)
	counts := new(Counts)
	var n *Node
	go func() {
		var err error
		n, err = Join(soon(t), Options{Nodes: 2, Key: testKey, Lease: unhurried, Counts: counts, Listening: func(a string) { root <- a }})
		joined <- err
	}()
	other := process(t, "borrower", <-root)
	if err := await(t, joined, "the other process"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, n) })
	lost := make(chan error, 1)
	n.OnLoss(func(_ int, why error) { lost <- why })
	came := make(chan []byte, 1)
	receive(t, n, func(_ int, header, bulk []byte) error {
		came <- append(bytes.Clone(header), bulk...)
		return nil
	})
	const size = 1 << 20
	own := n.Memory().Make(size)
	random := rand.NewChaCha8([32]byte{1})
	for round := 0; round < 20 || counts.Borrowed.Load() == 0; round++ {
		random.Read(own)
		if err := n.Send(1, 1, []byte("back"), own, true); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(own)
		if got := await(t, came, "what was lent"); !bytes.Equal(got[:len(sum)], sum[:]) || !bytes.Equal(got[len(sum):], own) {
			t.Fatalf("round %d: %d other bytes came back", round, len(got)-len(sum))
		}
	}
	if counts.Lent.Load() == 0 || counts.Borrowed.Load() == 0 {
		t.Errorf("%d were lent, %d borrowed", counts.Lent.Load(), counts.Borrowed.Load())
	}
	if err := n.Send(1, 1, []byte("read for ever"), own, true); err != nil {
		t.Fatal(err)
	}
	await(t, came, "word that it reads")
	n.Memory().Free(own)
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := await(t, lost, "the loss"); !errors.Is(err, ErrLost) {
		t.Errorf("lost by %v", err)
	}
	if bytes.Equal(own, make([]byte, size)) {
		t.Error("what is lent to who was killed was used again")
	}
}

func init() {
	actors["borrower"] = func() int {
		n, err := Join(context.Background(), Options{Number: 1, Nodes: 2, Key: testKey, Lease: unhurried, Root: os.Args[1]})
		if err == nil {
			err = n.Receive(1, Receiver{
				Take: func(_ int, header, bulk []byte) error {
					sum := sha256.Sum256(bulk)
					return n.Send(0, 1, sum[:], bulk, false)
				},
				TakeLent: func(_ int, header, bulk []byte, valid func() bool) error {
					sum := sha256.Sum256(bulk)
					if string(header) == "back" {
						return n.Send(0, 1, sum[:], bulk, false)
					}
					err := n.Send(0, 1, nil, nil, false)
					for valid() && sum == sha256.Sum256(bulk) {
					}
					return err
				},
			})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		select {}
	}
}
