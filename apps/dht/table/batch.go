package table

import "iter"

// batch sorts the ops of one Do into groups: ops of one local volume, or of one other node, are
// done together. It is used again.
type batch struct {
	hashes    []uint64
	next      []int32 // op of the same group, -1 after the last
	groups    []group
	touched   []int32 // groups that have ops
	questions []*question
	answered  []*question // the questions that can be used again
	read      uint64      // the sum of the words that were touched, so that the compiler keeps the reads
	values    int         // bytes of values in results so far
}

// later puts off an op and the ops of its group behind it, so that they keep their order.
func (b *batch) later(op int32, results []Result) {
	for i := op; i >= 0; i = b.next[i] {
		results[i] = Result{Value: results[i].Value, Err: ErrLater}
	}
}

// group is a list of ops, in their order.
type group struct {
	head, last int32 // -1 if there is none
	writes     bool  // one of them does
}

func newBatch(groups int) *batch {
	b := &batch{groups: make([]group, groups)}
	for i := range b.groups {
		b.groups[i] = group{head: -1, last: -1}
	}
	return b
}

// skip counts an op that is of no group.
func (b *batch) skip() {
	b.hashes = append(b.hashes, 0)
	b.next = append(b.next, -1)
}

// add appends an op to a group.
func (b *batch) add(op, to int, hash uint64, writes bool) {
	b.hashes = append(b.hashes, hash)
	b.next = append(b.next, -1)
	g := &b.groups[to]
	if g.last < 0 {
		g.head = int32(op)
		b.touched = append(b.touched, int32(to))
	} else {
		b.next[g.last] = int32(op)
	}
	g.last = int32(op)
	g.writes = g.writes || writes
}

// question adds an empty question.
func (b *batch) question() *question {
	var q *question
	if n := len(b.answered); n > 0 {
		q = b.answered[n-1]
		b.answered = b.answered[:n-1]
		q.err, q.later = nil, false
	} else {
		q = &question{b: b, done: make(chan struct{}, 1)}
	}
	b.questions = append(b.questions, q)
	return q
}

// each are the ops of a group.
func (b *batch) each(of int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := b.groups[of].head; i >= 0; i = b.next[i] {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// mostKeptOps is how many ops a batch that is kept has memory for.
const mostKeptOps = 1 << 12

// clear makes the batch an empty one.
func (b *batch) clear() {
	for _, g := range b.touched {
		b.groups[g] = group{head: -1, last: -1}
	}
	b.hashes, b.next, b.touched, b.values = b.hashes[:0], b.next[:0], b.touched[:0], 0
	for _, q := range b.questions {
		if !q.over { // otherwise the answer may still come
			q.all = byteOps{}
			b.answered = append(b.answered, q)
		}
	}
	clear(b.questions)
	b.questions = b.questions[:0]
	if cap(b.hashes) > mostKeptOps {
		b.hashes, b.next = nil, nil
	}
}
