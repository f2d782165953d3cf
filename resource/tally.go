package resource

// Tally counts the requests of a resource at its home, requests of other nodes
// included, and how many of them are through: released or given up. The counts wrap
// around, like [Look.Ticket], so only differences count.
type Tally struct {
	Readers, Writers struct{ Requested, Through uint32 }
}

// Tally looks at the queue, at any time, and orders nothing. A mirror has no counts.
func (r *Resource) Tally() Tally {
	var t Tally
	through := r.completed.Load() // first, so that it is never ahead
	requested := r.requested.Load()
	t.Writers.Requested, t.Readers.Requested = parts(requested)
	t.Writers.Through, t.Readers.Through = parts(through)
	return t
}

// parts are the two counts of a word.
func parts(word uint64) (writers, readers uint32) {
	return uint32(word/oneWriter) & writersMask, uint32(word / oneReader)
}

// Queued is how many are in the queue, those that hold included.
func (t Tally) Queued() int {
	writers := (t.Writers.Requested - t.Writers.Through) & writersMask
	readers := t.Readers.Requested - t.Readers.Through
	if t.Writers.Requested < t.Writers.Through {
		readers-- // the writers' count has begun again, and added a reader
	}
	return int(writers) + int(readers&readersMask)
}

// readersMask is what a word has room for.
const readersMask = 1<<31 - 1

// Elsewhere reports whether the resource has its home on another node.
func (r *Resource) Elsewhere() bool { return r.mirrored != nil }

// Broken is why the resource is broken, nil if it is not.
func (r *Resource) Broken() error {
	if r.completed.Load()&broken == 0 {
		return nil
	}
	return r.brokenError()
}
