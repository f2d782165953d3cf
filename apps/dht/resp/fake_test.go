package resp

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// fake is a Store that is plain maps, for tests of the face alone. Its clock stands
// still until a test moves it.
type fake struct {
	shards [16]shard
	now    atomic.Int64
	most   int   // bytes of a value
	broken error // of whatever is asked of it
	lost   func(key []byte) error
	calls  atomic.Int64
	widest atomic.Int64
}

type shard struct {
	sync.RWMutex
	values map[string]*entry
}

type entry struct {
	value   []byte
	expires int64
}

// seed is the seed of all fakes, so that the same keys have the same cursors.
var seed = maphash.MakeSeed()

const epoch = 1_700_000_000_000

func newFake() *fake {
	f := &fake{most: 4 << 20}
	for i := range f.shards {
		f.shards[i].values = make(map[string]*entry)
	}
	f.now.Store(epoch)
	return f
}

func (f *fake) Do(ctx context.Context, ops []table.Op, results []table.Result) {
	f.calls.Add(1)
	if n := int64(len(ops)); n > f.widest.Load() {
		f.widest.Store(n)
	}
	for i := range ops {
		op, r := &ops[i], &results[i]
		if r.Err = cmp.Or(f.broken, ctx.Err()); r.Err != nil {
			continue
		}
		if f.lost != nil {
			if r.Err = f.lost(op.Key); r.Err != nil {
				continue
			}
		}
		f.do(op, r)
	}
}

func (f *fake) do(op *table.Op, r *table.Result) {
	s := &f.shards[maphash.Bytes(seed, op.Key)%uint64(len(f.shards))]
	switch op.Kind {
	case table.Get, table.Length, table.Exists:
		s.RLock()
		defer s.RUnlock()
	default:
		s.Lock()
		defer s.Unlock()
	}
	e := s.values[string(op.Key)]
	if e != nil && e.expires != 0 && e.expires <= f.now.Load() {
		e = nil
	}
	r.Found = e != nil
	if e != nil {
		r.Expires = e.expires
	}
	switch op.Kind {
	case table.Get:
		if e != nil {
			r.Value = append(r.Value, e.value...)
		}
	case table.Set:
		f.set(s, e, op, r)
	case table.Delete:
		delete(s.values, string(op.Key))
	case table.Add:
		f.add(s, e, op, r)
	case table.Append:
		if e == nil {
			e = &entry{}
			s.values[string(op.Key)] = e
		}
		if len(e.value)+len(op.Value) > f.most {
			r.Err = table.ErrTooLong
			return
		}
		e.value = append(e.value, op.Value...)
		r.Number = int64(len(e.value))
	case table.Length:
		if e != nil {
			r.Number = int64(len(e.value))
		}
	case table.Expire:
		if e == nil {
			return
		}
		never := func(t int64) uint64 { return uint64(t) - 1 } // 0 is the latest time
		switch {
		case op.If == table.Absent && e.expires != 0, op.If == table.Present && e.expires == 0,
			op.Later && never(op.Expires) <= never(e.expires), op.Sooner && never(op.Expires) >= never(e.expires):
			return
		}
		r.Done, e.expires = true, op.Expires
	}
}

func (f *fake) set(s *shard, e *entry, op *table.Op, r *table.Result) {
	if e != nil && op.Old {
		r.Value = append(r.Value, e.value...)
	}
	switch {
	case op.If == table.Absent && e != nil, op.If == table.Present && e == nil,
		op.If == table.Equal && (e == nil || !bytes.Equal(e.value, op.Compare)):
		return
	case len(op.Value) > f.most:
		r.Err = table.ErrTooLong
		return
	}
	expires := op.Expires
	if e != nil && op.Keep {
		expires = e.expires
	}
	r.Done = true
	if e == nil {
		s.values[string(op.Key)] = &entry{bytes.Clone(op.Value), expires}
		return
	}
	e.value, e.expires = append(e.value[:0], op.Value...), expires
}

func (f *fake) add(s *shard, e *entry, op *table.Op, r *table.Result) {
	if e == nil {
		e = &entry{value: []byte("0")}
	}
	n, err := strconv.ParseInt(string(e.value), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(e.value) {
		r.Err = table.ErrNotInteger
		return
	}
	if op.Number > 0 && n > math.MaxInt64-op.Number || op.Number < 0 && n < math.MinInt64-op.Number {
		r.Err = table.ErrOverflow
		return
	}
	r.Number = n + op.Number
	e.value = strconv.AppendInt(e.value[:0], r.Number, 10)
	s.values[string(op.Key)] = e
}

// Scan goes through the keys by their hash.
func (f *fake) Scan(_ context.Context, cursor uint64, count int, each func(key []byte)) (uint64, error) {
	if f.broken != nil {
		return 0, f.broken
	}
	type hashed struct {
		hash uint64
		key  string
	}
	var all []hashed
	for key := range f.all() {
		if h := maphash.String(seed, key)>>1 | 1; h > cursor {
			all = append(all, hashed{h, key})
		}
	}
	slices.SortFunc(all, func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) })
	for i, h := range all {
		if i >= count && h.hash != all[i-1].hash {
			return all[i-1].hash, nil
		}
		each([]byte(h.key))
	}
	return 0, nil
}

func (f *fake) all() map[string][]byte {
	all := make(map[string][]byte)
	for i := range f.shards {
		s := &f.shards[i]
		s.RLock()
		for key, e := range s.values {
			if e.expires == 0 || e.expires > f.now.Load() {
				all[key] = e.value
			}
		}
		s.RUnlock()
	}
	return all
}

func (f *fake) Len(context.Context) (int64, error) { return int64(len(f.all())), f.broken }

func (f *fake) Clear(context.Context) error {
	for i := range f.shards {
		s := &f.shards[i]
		s.Lock()
		clear(s.values)
		s.Unlock()
	}
	return f.broken
}
