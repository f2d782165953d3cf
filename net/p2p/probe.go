package p2p

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// A probe is a connection of a lane's kind with nothing of ours above it. Lanes are
// compared with it: it costs what the network, its encryption and libp2p cost.

// ProbeOptions say what to measure.
type ProbeOptions struct {
	// Bulk probes a connection like the one for bulk; otherwise like that for grants.
	Bulk bool
	// There and Back are how many bytes go to the other node, and come back, in each
	// round: 1 to 64 MiB.
	There, Back int
	// Rounds is how many there are, after one that does not count.
	Rounds int
	// Each, if not nil, is told how long each round took.
	Each func(took time.Duration)
}

const (
	mostProbed = 64 << 20
	mostProbes = 8 // of one node at a time
)

func (o ProbeOptions) validate() error {
	switch {
	case o.There < 1 || o.There > mostProbed:
		return fmt.Errorf("p2p: ProbeOptions.There is %d, want 1 to %d", o.There, mostProbed)
	case o.Back < 1 || o.Back > mostProbed:
		return fmt.Errorf("p2p: ProbeOptions.Back is %d, want 1 to %d", o.Back, mostProbed)
	case o.Rounds < 1:
		return fmt.Errorf("p2p: ProbeOptions.Rounds is %d, want at least 1", o.Rounds)
	}
	return nil
}

// Probe opens a bare connection to another node and returns how long a round takes.
func (n *Node) Probe(ctx context.Context, to int, o ProbeOptions) (time.Duration, error) {
	if to < 0 || to >= len(n.peers) || to == n.number {
		return 0, fmt.Errorf("p2p: Probe of node %d, want another than %d, below %d", to, n.number, len(n.peers))
	}
	if err := o.validate(); err != nil {
		return 0, err
	}
	took, err := n.probe(ctx, n.peers[to], o)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("p2p: Probe of node %d: %w", to, err)
	}
	return took, nil
}

func (n *Node) probe(ctx context.Context, p *peer, o ProbeOptions) (time.Duration, error) {
	kind := transport.Control
	if o.Bulk {
		kind = transport.Data
	}
	conn, err := n.host.DialProbe(ctx, p.number, p.where(), kind)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return rounds(conn, o)
}

func rounds(raw transport.Stream, o ProbeOptions) (time.Duration, error) {
	sizes := binary.LittleEndian.AppendUint32(nil, uint32(o.There))
	if _, err := raw.Write(binary.LittleEndian.AppendUint32(sizes, uint32(o.Back))); err != nil {
		return 0, err
	}
	there, back := make([]byte, o.There), make([]byte, o.Back)
	var began, last time.Time
	for round := range o.Rounds + 1 {
		if round == 1 {
			began = time.Now()
			last = began
		}
		if _, err := raw.Write(there); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(raw, back); err != nil {
			return 0, err
		}
		if o.Each != nil && round > 0 {
			now := time.Now()
			o.Each(now.Sub(last))
			last = now
		}
	}
	return time.Since(began) / time.Duration(o.Rounds), nil
}

// probed answers a probe until it is closed.
func (p *peer) probed(raw *transport.Conn) {
	defer raw.Close()
	defer p.probing.Add(-1)
	if p.probing.Add(1) > mostProbes {
		return
	}
	defer context.AfterFunc(p.ctx, func() { raw.Close() })()
	var sizes [8]byte
	if _, err := io.ReadFull(raw, sizes[:]); err != nil {
		return
	}
	there, back := binary.LittleEndian.Uint32(sizes[:4]), binary.LittleEndian.Uint32(sizes[4:])
	if there > mostProbed || back > mostProbed {
		return
	}
	in, out := make([]byte, there), make([]byte, back)
	for {
		if _, err := io.ReadFull(raw, in); err != nil {
			return
		}
		if _, err := raw.Write(out); err != nil {
			return
		}
	}
}
