package volume

import (
	"context"
	"fmt"
)

// lockless is a Side without a lock, see atomics.
type lockless struct{ seat }

// begin refuses what cannot succeed. Memory that is reached directly does not
// tell that the window has failed.
func (s *lockless) begin(ctx context.Context) (atomics, error) {
	if s.t.shared == nil || s.t.shared.Failed().Load() {
		if err := s.w.Err(); err != nil {
			return atomics{}, fmt.Errorf("volume: %w", err)
		}
	}
	return atomics{s.t}, ctx.Err()
}

// end is the error of an operation, if the window has not failed in it.
func (s *lockless) end(err error) error {
	if failure := s.failure(); failure != nil {
		return failure
	}
	return err
}

func (s *lockless) Get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	a, err := s.begin(ctx)
	if err != nil {
		return 0, false, err
	}
	value, found, err = a.get(ctx, key)
	err = s.end(err)
	return value, found && err == nil, err
}

func (s *lockless) Insert(ctx context.Context, key, value uint64) (inserted bool, err error) {
	a, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	_, inserted, err = a.insert(ctx, key, value)
	err = s.end(err)
	return inserted && err == nil, err
}

func (s *lockless) InsertNew(ctx context.Context, key, value uint64) error {
	a, err := s.begin(ctx)
	if err != nil {
		return err
	}
	return s.end(a.insertNew(key, value))
}

func (s *lockless) Set(ctx context.Context, key, value uint64) (found bool, err error) {
	a, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	found, err = a.set(ctx, key, value)
	err = s.end(err)
	return found && err == nil, err
}

func (s *lockless) Delete(ctx context.Context, key uint64) (found bool, err error) {
	a, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	found, err = a.delete(ctx, key)
	err = s.end(err)
	return found && err == nil, err
}

func (s *lockless) Add(ctx context.Context, key, delta uint64) (sum uint64, err error) {
	sum, _, err = s.sum(ctx, key, delta)
	return sum, err
}

func (s *lockless) sum(ctx context.Context, key, delta uint64) (sum uint64, found bool, err error) {
	a, err := s.begin(ctx)
	if err != nil {
		return 0, false, err
	}
	sum, found, err = a.add(ctx, key, delta)
	if err = s.end(err); err != nil {
		return 0, false, err
	}
	return sum, found, nil
}

func (s *lockless) CompareAndSet(ctx context.Context, key, old, new uint64) (swapped, found bool, err error) {
	a, err := s.begin(ctx)
	if err != nil {
		return false, false, err
	}
	swapped, found, err = a.compareAndSet(ctx, key, old, new)
	err = s.end(err)
	return swapped && err == nil, found && err == nil, err
}

func (s *lockless) Do(ctx context.Context, ops []Op) error {
	for i := range ops {
		o := &ops[i]
		o.Found, o.Swapped, o.Err = false, false, nil
		var err error
		switch o.Kind {
		case Get:
			o.Value, o.Found, err = s.Get(ctx, o.Key)
		case Insert:
			var inserted bool
			inserted, err = s.Insert(ctx, o.Key, o.Value)
			o.Found = !inserted && err == nil
		case Set:
			o.Found, err = s.Set(ctx, o.Key, o.Value)
		case Delete:
			o.Found, err = s.Delete(ctx, o.Key)
		case Add:
			o.Value, o.Found, err = s.sum(ctx, o.Key, o.Value)
		case CompareAndSet:
			o.Swapped, o.Found, err = s.CompareAndSet(ctx, o.Key, o.Old, o.Value)
		default:
			panic(unknown(o.Kind))
		}
		if full, ok := err.(*FullError); ok {
			o.Err, err = full, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *lockless) Len(ctx context.Context) (int, error) {
	a, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	n := int(a.atomicLoad(atElements))
	return n, s.end(nil)
}

func (s *lockless) Each(ctx context.Context, yield func(key, value uint64) bool) error {
	a, err := s.begin(ctx)
	if err != nil {
		return err
	}
	a.each(yield)
	return s.end(nil)
}

func (s *lockless) Snapshot(context.Context) ([]Element, error) {
	return nil, fmt.Errorf("volume: snapshot: %w", ErrNoLock)
}

func (s *lockless) Clear(context.Context) error {
	return fmt.Errorf("volume: clear: %w", ErrNoLock)
}

func (s *lockless) Resize(context.Context, int, int) error {
	return fmt.Errorf("volume: resize: %w", ErrNoLock)
}
