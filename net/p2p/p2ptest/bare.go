package p2ptest

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Bare is a host like a node's, with no node above it. Two of them measure what
// the network, its encryption and libp2p cost. Lanes are compared with that.
type Bare struct {
	// Address is where it listens.
	Address string

	host  *transport.Host
	group sync.WaitGroup

	mu    sync.Mutex
	over  bool
	conns []*transport.Conn // the connections that others have opened
}

// Rounds say what to measure.
type Rounds struct {
	// Bulk measures a connection like the lane's for bulk, otherwise one like the lane's for
	// small frames.
	Bulk bool
	// There and Back are how many bytes go to the other host, and come back, in each round: 1 to
	// 64 MiB.
	There, Back int
	// Count is how many rounds there are, after one that does not count.
	Count int
	// Each, if not nil, is told how long each round took.
	Each func(took time.Duration)
}

const mostBytes = 64 << 20

func (r Rounds) validate() error {
	for name, bytes := range map[string]int{"There": r.There, "Back": r.Back} {
		if bytes < 1 || bytes > mostBytes {
			return fmt.Errorf("p2ptest: Rounds.%s is %d, want 1 to %d", name, bytes, mostBytes)
		}
	}
	if r.Count < 1 {
		return fmt.Errorf("p2ptest: Rounds.Count is %d, want at least 1", r.Count)
	}
	return nil
}

// NewBare makes a bare host with the identity of a node, at a port of this machine. It answers
// the rounds of others until it is closed.
func NewBare(ctx context.Context, key []byte, number, nodes int) (*Bare, error) {
	const hello = 10 * time.Second
	h, err := transport.New(transport.Options{
		Number: number, Nodes: nodes, Key: key, Hello: hello,
		Stranger: func(string) {}, Talk: func() uint64 { return 0 },
	})
	if err != nil {
		return nil, err
	}
	b := &Bare{host: h}
	if b.Address, err = h.Listen(ctx, "127.0.0.1:0"); err != nil {
		_ = h.Close() // it has nothing to say beside err
		return nil, err
	}
	b.group.Go(b.accept)
	return b, nil
}

// Close ends the host, and the rounds of others.
func (b *Bare) Close() error {
	b.host.Deafen()
	b.mu.Lock()
	b.over = true
	for _, c := range b.conns {
		c.Close()
	}
	b.mu.Unlock()
	b.group.Wait()
	return b.host.Close()
}

// Measure plays rounds with the host of another node, on a connection of its own, and returns
// how long a round takes.
func (b *Bare) Measure(ctx context.Context, to int, address string, r Rounds) (time.Duration, error) {
	if err := r.validate(); err != nil {
		return 0, err
	}
	took, err := b.measure(ctx, to, address, r)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("p2ptest: rounds with node %d: %w", to, err)
	}
	return took, nil
}

func (b *Bare) measure(ctx context.Context, to int, address string, r Rounds) (time.Duration, error) {
	kind := transport.Control
	if r.Bulk {
		kind = transport.Data
	}
	c, err := b.host.DialBeside(ctx, to, address, kind)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Close)()
	return r.play(c)
}

// play plays the rounds by a stream.
func (r Rounds) play(s transport.Stream) (time.Duration, error) {
	sizes := binary.LittleEndian.AppendUint32(nil, uint32(r.There))
	if _, err := s.Write(binary.LittleEndian.AppendUint32(sizes, uint32(r.Back))); err != nil {
		return 0, err
	}
	there, back := make([]byte, r.There), make([]byte, r.Back)
	var began, last time.Time
	for round := range r.Count + 1 {
		if round == 1 {
			began = time.Now()
			last = began
		}
		if _, err := s.Write(there); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(s, back); err != nil {
			return 0, err
		}
		if r.Each != nil && round > 0 {
			now := time.Now()
			r.Each(now.Sub(last))
			last = now
		}
	}
	return time.Since(began) / time.Duration(r.Count), nil
}

// accept answers everybody.
func (b *Bare) accept() {
	for {
		c, _, err := b.host.Accept()
		if err != nil {
			return
		}
		b.mu.Lock()
		if b.over {
			c.Close()
		} else {
			b.conns = append(b.conns, c)
		}
		b.mu.Unlock()
		b.group.Go(func() {
			defer c.Close()
			answer(c)
		})
	}
}

// answer plays the other side's rounds until they end.
func answer(s transport.Stream) {
	var sizes [8]byte
	if _, err := io.ReadFull(s, sizes[:]); err != nil {
		return
	}
	there, back := binary.LittleEndian.Uint32(sizes[:4]), binary.LittleEndian.Uint32(sizes[4:])
	if there > mostBytes || back > mostBytes {
		return
	}
	in, out := make([]byte, there), make([]byte, back)
	for {
		if _, err := io.ReadFull(s, in); err != nil {
			return
		}
		if _, err := s.Write(out); err != nil {
			return
		}
	}
}
