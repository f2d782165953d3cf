package lab

import (
	"time"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
)

// The benchmarks of foMPI are about windows and epochs, without a lock of ours. Package net/rma has
// no bulk Accumulate, so ACCUMULATE issues one operation for each word, and flushes once. It has no
// request-based operations, and no MPI_Win_sync.

// ofCACM18 are the benchmarks of Gerstenberger, Besta and Hoefler.
func ofCACM18() []Benchmark {
	sizes := &Sweep{Name: "size", Unit: "B", Steps: these(8, 64, 512, 4096, 32768), Log: true}
	return []Benchmark{
		{Name: "EPOCHS", Paper: "CACM18 §2.5", Figure: "fence", Lockless: true, script: playEpochs,
			About: "cost of fence, of post, start, complete and wait with two neighbours, of locks, and of a flush"},
		{Name: "PUT", Paper: "CACM18 §2.4", Figure: kindAllocated, Sweep: sizes, Lockless: true, script: transfer(putBulk),
			About: "a Put and its Flush, by size and by the kind of window"},
		{Name: "GET", Paper: "CACM18 §2.4", Figure: kindAllocated, Sweep: sizes, Lockless: true, script: transfer(getBulk),
			About: "a Get, by size and by the kind of window"},
		{Name: "ACCUMULATE", Paper: "CACM18 §2.4", Figure: kindAllocated, Sweep: sizes, Lockless: true, script: transfer(accumulate),
			About: "an Accumulate of each word and a Flush, by size and by the kind of window"},
	}
}

// timed adds the time of a call to a value.
func (r *player) timed(name string, call func() error) error {
	begin := r.clock.Now()
	if err := call(); err != nil {
		return err
	}
	r.sample.value(name, float64(r.clock.Now()-begin), 1)
	return nil
}

// playEpochs makes each kind of epoch once in a round. Every rank takes part in all but the one that is made alone, and its
// times count.
func playEpochs(r *player) error {
	e, ranks := r.epoch, rma.Rank(r.tree.Ranks())
	me, partner := r.w.Rank(), r.partner()
	neighbours := []rma.Rank{(me + 1) % ranks}
	if before := (me + ranks - 1) % ranks; before != neighbours[0] {
		neighbours = append(neighbours, before)
	}
	locked := func(mode epoch.Mode) func() error {
		return func() error {
			if err := e.Lock(r.ctx, partner, mode); err != nil {
				return err
			}
			return e.Unlock(partner)
		}
	}
	all := func() error {
		if err := e.LockAll(r.ctx); err != nil {
			return err
		}
		return e.UnlockAll()
	}
	kinds := []struct {
		name  string
		alone bool // the last rank makes it, and the others wait
		call  func() error
	}{
		{"fence", false, func() error { return e.Fence(r.ctx) }},
		{"pscw", false, func() error {
			for _, step := range []func() error{
				func() error { return e.Post(r.ctx, neighbours) }, func() error { return e.Start(r.ctx, neighbours) },
				e.Complete, func() error { return e.Wait(r.ctx) },
			} {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		}},
		{"lock shared", false, locked(epoch.Shared)},
		{"lock exclusive", false, locked(epoch.Exclusive)},
		{"lock all", false, all},
		{"lock all, alone", true, all},
		{"put and flush", false, func() error {
			r.w.Put(partner, r.strips, 1)
			r.w.Flush(partner)
			return r.w.Err()
		}},
	}
	return r.rounds(func() (time.Duration, error) {
		for _, k := range kinds {
			if err := r.meet(); err != nil {
				return 0, err
			}
			if k.alone && me != ranks-1 {
				continue
			}
			if err := r.timed(k.name, k.call); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}, func(time.Duration) {})
}

// The kinds of windows (CACM18 §2.2).
const (
	kindAllocated   = "allocated"
	kindDynamic     = "dynamic"
	kindTraditional = "traditional"
	kindShared      = "shared"
)

// operation is a transfer between rank 0 and its partner.
type operation func(r *player, partner rma.Rank, disp rma.Disp, buffer []byte)

func putBulk(r *player, partner rma.Rank, disp rma.Disp, buffer []byte) {
	r.w.PutBytes(partner, disp, buffer)
	r.w.Flush(partner)
}

func getBulk(r *player, partner rma.Rank, disp rma.Disp, buffer []byte) {
	r.w.GetBytes(partner, disp, buffer)
}

func accumulate(r *player, partner rma.Rank, disp rma.Disp, buffer []byte) {
	for i := range len(buffer) / 8 {
		r.w.Accumulate(partner, disp+rma.Disp(i), rma.Sum, 1)
	}
	r.w.Flush(partner)
}

// transfer is a script: rank 0 makes an operation on each kind of memory of its partner, and the
// other ranks wait.
func transfer(do operation) func(r *player) error {
	return func(r *player) error {
		buffer, err := r.message()
		if err != nil {
			return err
		}
		places, closing, err := r.kinds(len(buffer) / 8)
		if err != nil {
			return err
		}
		partner := r.partner()
		err = r.rounds(func() (time.Duration, error) {
			if r.w.Rank() != 0 {
				return 0, nil
			}
			for range transfersInRound {
				for _, at := range places {
					begin := r.clock.Now()
					do(r, partner, at.disp, buffer)
					r.sample.value(at.kind, float64(r.clock.Now()-begin), 1)
				}
				r.direct(partner, buffer)
			}
			return 0, r.w.Err()
		}, func(time.Duration) {})
		if err != nil {
			return err
		}
		return closing()
	}
}

// transfersInRound is how many transfers rank 0 makes between two fences.
const transfersInRound = 32

// place is the partner's memory of a kind.
type place struct {
	kind string
	disp rma.Disp
}

// kinds makes memory of each kind that the fabric has. All ranks take part.
func (r *player) kinds(words int) (places []place, closing func() error, err error) {
	places = []place{{kindAllocated, r.strips}}
	region, err := r.w.Attach(words)
	if err != nil {
		return nil, nil, err
	}
	r.w.Put(r.w.Rank(), r.data, uint64(region.Base))
	r.w.FlushAll()
	if err := r.meet(); err != nil {
		return nil, nil, err
	}
	places = append(places, place{kindDynamic, rma.Disp(r.w.Get(r.partner(), r.data))})
	withdraw := func() error { return r.meet() }
	if r.exposure != nil {
		t, err := r.exposure.Expose(r.ctx, r.epoch, make([]uint64, words))
		if err != nil {
			return nil, nil, err
		}
		places = append(places, place{kindTraditional, t.Base(r.partner())})
		withdraw = func() error { return t.Withdraw(r.ctx) }
	}
	return places, func() error {
		if err := withdraw(); err != nil {
			return err
		}
		return r.w.Detach(region.Base)
	}, nil
}

// direct stores a word with an instruction, where ranks share memory: the shared kind, for the
// smallest size.
func (r *player) direct(partner rma.Rank, buffer []byte) {
	shared, ok := r.w.(rma.Shared)
	if !ok || len(buffer) > 8 {
		return
	}
	word, ok := shared.Direct(partner, r.strips)
	if !ok {
		return
	}
	begin := r.clock.Now()
	word.Store(1)
	r.sample.value(kindShared, float64(r.clock.Now()-begin), 1)
}
