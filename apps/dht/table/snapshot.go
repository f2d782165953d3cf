package table

import "iter"

// Record is a key of a table of byte strings, as it stands in a volume.
type Record struct {
	Key, Value []byte
	Expires    int64 // Unix milliseconds, 0 never
}

// Open is the records of a volume as [Strings.Snapshot] gives it, to read, in any process: it
// needs these bytes only. Hash is the table's, or nil if its Options have none. Damaged bytes
// are an error, before anything is read.
func Open(b []byte, hash func([]byte) uint64) (iter.Seq[Record], error) {
	if err := Check(b, hash); err != nil {
		return nil, err
	}
	v := vol(b)
	return func(yield func(Record) bool) {
		for at := v.heap(); at < v.word(atBump); at += v.blockSize(at) {
			if v.half(at+atUsed) == 1 && !yield(Record{v.key(at), v.value(at), v.expires(at)}) {
				return
			}
		}
	}, nil
}
