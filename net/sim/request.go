package sim

import (
	"context"
	"encoding/binary"

	"github.com/orwl/go-orwl/net/rma"
)

// kind is the kind of an operation.
type kind uint8

const (
	opPut kind = iota
	opAccumulate
	opPutBytes
	opGet
	opFetch
	opCAS
	opGetBytes
	opFlush
	opFlushAll
	opAwait
	opPause

	// Direct access to shared memory. All but opNotify are instructions. Notify is
	// an operation of the window.
	opLoad
	opStore
	opSwap
	opAdd
	opCompareAndSwap
	opNotify

	// A rank lets others run that share its processor.
	opYield // offers its processor
	opSleep // sleeps for operand picoseconds
)

var kindNames = [...]string{"Put", "Accumulate", "PutBytes", "Get", "FetchOp", "CAS", "GetBytes",
	"Flush", "FlushAll", "Await", "Pause",
	"load", "store", "swap", "add", "compare-and-swap", "Notify", "yield", "sleep"}

func (k kind) String() string { return kindNames[k] }

// request is an operation that a rank asks for.
type request struct {
	kind    kind
	op      rma.Op
	target  rma.Rank
	disp    rma.Disp
	operand uint64 // the value, the operand, CAS's new, Pause's n
	old     uint64 // CAS
	until   rma.Until
	ctx     context.Context
	epoch   *rma.Epoch // the Await ends with it, if not nil
	words   []uint64   // the words of a PutBytes
	bytes   []byte     // the destination of a GetBytes
}

// ended is why an Await ends though its condition does not hold, or nil.
func (q *request) ended() error {
	if q.epoch != nil && q.epoch.Err() != nil {
		return q.epoch.Err()
	}
	return q.ctx.Err()
}

// buffered reports whether the request is a change that its rank does not wait for.
// It is complete only after a Flush.
func (q *request) buffered() bool { return q.kind <= opPutBytes }

// changes reports whether the request may change its word, so that the rank needs the
// word's cache line for itself.
func (q *request) changes() bool {
	switch q.kind {
	case opGet, opGetBytes, opAwait, opLoad, opNotify:
		return false
	}
	return true
}

// direct reports whether the request is an instruction on shared memory. It takes
// effect on a failed window, too. It wakes no rank.
func (q *request) direct() bool { return q.kind >= opLoad && q.kind <= opCompareAndSwap }

// remote reports whether the request goes through the network, to the memory of its target.
func (q *request) remote() bool {
	switch q.kind {
	case opFlush, opFlushAll, opPause, opYield, opSleep:
		return false
	}
	return !q.direct()
}

// wakes reports whether the request wakes the ranks that await its word and whose
// condition holds. result is what the request returned.
func (q *request) wakes(result uint64) bool {
	switch q.kind {
	case opPut, opNotify:
		return true
	case opAccumulate, opFetch:
		return q.op != rma.NoOp
	case opCAS:
		return result == q.old
	}
	return false
}

// apply performs the operation on memory and returns its value.
func (q *request) apply(m *memory) uint64 {
	switch q.kind {
	case opPut, opStore:
		m.store(q.target, q.disp, q.operand)
	case opSwap, opAdd:
		old := m.load(q.target, q.disp)
		if q.kind == opAdd {
			m.store(q.target, q.disp, old+q.operand)
		} else {
			m.store(q.target, q.disp, q.operand)
		}
		return old
	case opCompareAndSwap:
		if m.load(q.target, q.disp) != q.old {
			return 0
		}
		m.store(q.target, q.disp, q.operand)
		return 1
	case opAccumulate, opFetch:
		old := m.load(q.target, q.disp)
		switch q.op {
		case rma.Sum:
			m.store(q.target, q.disp, old+q.operand)
		case rma.Replace:
			m.store(q.target, q.disp, q.operand)
		}
		return old
	case opCAS:
		old := m.load(q.target, q.disp)
		if old == q.old {
			m.store(q.target, q.disp, q.operand)
		}
		return old
	case opGet, opAwait, opLoad:
		return m.load(q.target, q.disp)
	case opPutBytes:
		for i, word := range q.words {
			m.store(q.target, q.disp+rma.Disp(i), word)
		}
	case opGetBytes:
		words := m.at(q.target, q.disp, len(q.bytes)/8)
		return readWords(q.bytes, words)
	}
	return 0
}

// fingerprint is a fingerprint of an operation in flight.
func (q *request) fingerprint(origin rma.Rank) uint64 {
	print := mix(uint64(q.kind)<<56 ^ uint64(q.op)<<48 ^ uint64(origin)<<24 ^ uint64(q.target))
	print = mix(print ^ uint64(q.disp))
	print = mix(print ^ q.operand)
	for _, word := range q.words {
		print = mix(print ^ word)
	}
	return print
}

// wordsOf copies the bytes of a bulk transfer, so that the caller may reuse them.
func wordsOf(src []byte) []uint64 {
	words := make([]uint64, len(src)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(src[8*i:])
	}
	return words
}

// readWords copies words to dst. It returns a fingerprint of them.
func readWords(dst []byte, words []uint64) uint64 {
	var print uint64
	for i := range min(len(words), len(dst)/8) {
		binary.NativeEndian.PutUint64(dst[8*i:], words[i])
		print = mix(print ^ words[i])
	}
	return print
}
