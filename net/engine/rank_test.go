package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// The memory of a node. All ranks of the other node share the first words; each has
// some for itself.
const (
	counterWord = 0
	chainWord   = 1
	ownWords    = 8 // from here on
	putWord     = 0 // of its own
	sumWord     = 1
	bytesWord   = 2
	areaWords   = 1200 // enough for bulk that is not copied
	stride      = bytesWord + areaWords
)

// rank issues operations to the other node, and knows what they must find.
type rank struct {
	id     rma.Rank
	home   *endpoint
	peer   *endpoint
	random *rand.Rand
	left   int // operations to be issued

	lightness int // of bulk: how many times as much is little

	waits  wire.Kind // the kind of the operation whose answer it waits for; 0 for none
	asked  wire.Operation
	base   rma.Disp
	put    uint64            // the value that its first word must have
	sum    uint64            // and its second word
	area   [areaWords]uint64 // and its area
	got    []uint64          // counts
	seen   uint64            // the chain's end
	linked map[uint64]uint64 // links of the chain that are its own: what was there before
}

// issue issues the next operation.
func (r *rank) issue() {
	r.left--
	op := wire.Operation{Origin: r.id, Target: r.peer.memory.here[r.random.IntN(len(r.peer.memory.here))]}
	k, bulk := wire.KindFlush, []byte(nil)
	if r.left > 0 {
		k = [...]wire.Kind{wire.KindFetchOp, wire.KindFetchOp, wire.KindCAS, wire.KindPut, wire.KindAccumulate,
			wire.KindPutBytes, wire.KindPutBytes, wire.KindGetBytes, wire.KindGet, wire.KindFlush}[r.random.IntN(10)]
	}
	switch k {
	case wire.KindFetchOp:
		op.Disp, op.A, op.B = counterWord, 1, uint64(rma.Sum)
	case wire.KindCAS:
		op.Disp, op.A, op.B = chainWord, r.seen, uint64(r.id+1)<<32|uint64(r.left)
	case wire.KindPut:
		r.put = r.random.Uint64()
		op.Disp, op.A = r.base+putWord, r.put
	case wire.KindAccumulate:
		op.Disp, op.A, op.B = r.base+sumWord, r.random.Uint64N(1000), uint64(rma.Sum)
		r.sum += op.A
	case wire.KindGet:
		op.Disp = r.base + putWord
	case wire.KindPutBytes:
		at, n := r.span()
		value := r.random.Uint64()
		for i := range n {
			r.area[at+i] = value + uint64(i)
			bulk = binary.NativeEndian.AppendUint64(bulk, r.area[at+i])
		}
		op.Disp = r.base + bytesWord + rma.Disp(at)
	case wire.KindGetBytes:
		at, n := r.span()
		op.Disp, op.Length = r.base+bytesWord+rma.Disp(at), 8*n
	}
	waits := k != wire.KindPut && k != wire.KindAccumulate && k != wire.KindPutBytes
	if waits {
		r.waits, r.asked = k, op
	}
	r.home.operate(k, op, bulk, waits)
}

// span is some of the rank's area: mostly a little, often so much that it hardly fits
// into a chunk of the log, or is not copied into it at all.
func (r *rank) span() (at, n int) {
	n = r.random.IntN(8)
	switch r.random.IntN(r.lightness) {
	case 0, 1:
		n += 512
	case 2, 3:
		n += 1020
	case 4:
		n = areaWords - n
	}
	return r.random.IntN(areaWords - n + 1), n
}

// answered takes the answer to what the rank waits for.
func (r *rank) answered(reply wire.Reply, bulk []byte) error {
	k := r.waits
	r.waits = 0
	if k == 0 || reply.Status != wire.Done {
		return fmt.Errorf("rank %d waits for the answer to %v, and gets %+v", r.id, k, reply)
	}
	switch k {
	case wire.KindFetchOp:
		r.got = append(r.got, reply.Value)
	case wire.KindCAS:
		r.seen = reply.Value
		if reply.Value == r.asked.A {
			r.linked[r.asked.B], r.seen = r.asked.A, r.asked.B
		}
	case wire.KindGet:
		if reply.Value != r.put {
			return fmt.Errorf("rank %d gets %d where it put %d", r.id, reply.Value, r.put)
		}
	case wire.KindGetBytes:
		at := int(r.asked.Disp - r.base - bytesWord)
		if want := native(r.area[at : at+r.asked.Length/8]); !bytes.Equal(bulk, want) {
			return fmt.Errorf("rank %d gets other bytes than it put: %d from word %d on", r.id, len(bulk), at)
		}
	case wire.KindFlush:
		return r.visible()
	}
	return nil
}

// visible looks whether everything that the rank wrote is there.
func (r *rank) visible() error {
	words := r.peer.memory.words[r.base : r.base+stride]
	if words[putWord] != r.put || words[sumWord] != r.sum {
		return fmt.Errorf("after a Flush of rank %d its words are %d, %d, want %d, %d",
			r.id, words[putWord], words[sumWord], r.put, r.sum)
	}
	for i, v := range words[bytesWord:] {
		if v != r.area[i] {
			return fmt.Errorf("after a Flush of rank %d word %d of its bytes is %d, want %d", r.id, i, v, r.area[i])
		}
	}
	return nil
}

func native(words []uint64) (b []byte) {
	for _, v := range words {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}

// agree checks what all ranks of a node together did to the peer's shared words:
// their counts are 0 to n-1, and all their links make one chain.
func agree(ranks []*rank) error {
	words := ranks[0].peer.memory.words
	seen, total := make([]bool, words[counterWord]), 0
	links := make(map[uint64]uint64)
	for _, r := range ranks {
		for _, v := range r.got {
			if v >= uint64(len(seen)) || seen[v] {
				return fmt.Errorf("rank %d counted %d, which somebody else did, or nobody can", r.id, v)
			}
			seen[v] = true
		}
		total += len(r.got)
		for v, before := range r.linked {
			links[v] = before
		}
	}
	if total != len(seen) {
		return fmt.Errorf("%d counted to %d", total, len(seen))
	}
	length := 0
	for v := words[chainWord]; v != 0; length++ {
		before, ok := links[v]
		if !ok {
			return fmt.Errorf("link %#x was made by nobody", v)
		}
		v = before
	}
	if length != len(links) {
		return fmt.Errorf("%d of %d links are in the chain", length, len(links))
	}
	return nil
}
