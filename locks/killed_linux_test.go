package locks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
)

// Tests in which a process is killed. One crash is enough for all locks: the
// fabric has two ranks for each, one of them in the process that dies.
//
//	rank      0 ... L-1               L ... 2L-1
//	process   the other one, killed   this one

// killing is the machine for all locks.
func killing() string { return fmt.Sprintf("node:2 core:%d", len(locks.All())) }

// party is all locks for the ranks of a process.
type party struct {
	f     *shm.Fabric
	locks []*locks.Lock
	mark  rma.Disp // at the rank of a lock's number: the rank inside
}

func newParty(f *shm.Fabric) (*party, error) {
	p := &party{f: f}
	var err error
	if p.mark, err = f.Alloc(1); err != nil {
		return nil, err
	}
	for _, spec := range locks.All() {
		l, err := spec.New(f, locks.Options{})
		if err != nil {
			return nil, err
		}
		p.locks = append(p.locks, l)
	}
	return p, nil
}

// each lets a rank for each lock do something: those from first on.
func (p *party) each(first int, do func(i int, name string, w rma.Window) error) error {
	var ranks sync.WaitGroup
	errs := make([]error, len(p.locks))
	for i, l := range p.locks {
		ranks.Go(func() {
			w, err := p.f.Window(rma.Rank(first + i))
			if err == nil {
				err = do(i, l.Spec().Name, w)
			}
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", l.Spec().Name, err)
			}
		})
	}
	ranks.Wait()
	return errors.Join(errs...)
}

// lost checks the error of a survivor.
func lost(err error) error {
	if !errors.Is(err, locks.ErrBroken) || !errors.Is(err, rma.ErrPeerLost) {
		return fmt.Errorf("the survivor's error is %v, want one that matches %q and %q", err, locks.ErrBroken, rma.ErrPeerLost)
	}
	return nil
}

// visit acquires, looks for another rank inside, and releases. It is over when the
// window has failed.
func (p *party) visit(i int, w rma.Window, m locks.Mutex) (over bool, err error) {
	if err := m.Acquire(context.Background()); err != nil {
		return true, lost(err)
	}
	was := w.FetchOp(rma.Rank(i), p.mark, rma.Sum, 1)
	if was != 0 && w.Err() == nil {
		return true, fmt.Errorf("exclusion broken: %d others are inside", was)
	}
	w.FetchOp(rma.Rank(i), p.mark, rma.Sum, ^uint64(0))
	m.Release()
	return false, nil
}

// TestKilledHolder kills the process that holds every lock while another one waits for each.
func TestKilledHolder(t *testing.T) {
	f, victim := withOther(t, killing(), "hold")
	p, err := newParty(f)
	if err != nil {
		t.Fatal(err)
	}
	victim.ready()
	var waiting, killed sync.WaitGroup
	waiting.Add(len(p.locks))
	killed.Go(func() {
		waiting.Wait()
		victim.kill()
	})
	err = p.each(len(p.locks), func(i int, name string, w rma.Window) error {
		err := p.locks[i].At(lockstest.Watch(w, waiting.Done)).Acquire(context.Background())
		if err == nil {
			return errors.New("a survivor has the lock that a dead rank holds")
		}
		return lost(err)
	})
	if err != nil {
		t.Error(err)
	}
	killed.Wait()
}

func holdAll(f *shm.Fabric, _ string) error {
	p, err := newParty(f)
	if err != nil {
		return err
	}
	err = p.each(0, func(i int, _ string, w rma.Window) error {
		return p.locks[i].At(w).Acquire(context.Background())
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// TestKilledWaiter kills the process that waits for every lock. The holders let go when they
// know, and want the locks again.
func TestKilledWaiter(t *testing.T) {
	f, victim := withOther(t, killing(), "wait")
	p, err := newParty(f)
	if err != nil {
		t.Fatal(err)
	}
	var held, killed sync.WaitGroup
	held.Add(len(p.locks))
	killed.Go(func() {
		held.Wait()
		victim.ready()
		victim.kill()
	})
	err = p.each(len(p.locks), func(i int, name string, w rma.Window) error {
		m := p.locks[i].At(w)
		if err := m.Acquire(context.Background()); err != nil {
			return err
		}
		w.Put(rma.Rank(i), p.mark, 1) // the waiter may come
		w.Flush(rma.Rank(i))
		held.Done()
		if _, err := w.Await(context.Background(), w.Rank(), p.mark, rma.Is(1)); !errors.Is(err, rma.ErrPeerLost) {
			return fmt.Errorf("waiting ended with %v, want %v", err, rma.ErrPeerLost)
		}
		m.Release()
		return lost(m.Acquire(context.Background()))
	})
	if err != nil {
		t.Error(err)
	}
	killed.Wait()
}

func waitForAll(f *shm.Fabric, _ string) error {
	p, err := newParty(f)
	if err != nil {
		return err
	}
	var waiting sync.WaitGroup
	waiting.Add(len(p.locks))
	go func() {
		waiting.Wait()
		fmt.Println("ready")
	}()
	return p.each(0, func(i int, name string, w rma.Window) error {
		if _, err := w.Await(context.Background(), w.Rank(), p.mark, rma.Is(1)); err != nil {
			return err
		}
		return p.locks[i].At(lockstest.Watch(w, waiting.Done)).Acquire(context.Background())
	})
}

// TestKilledAnywhere kills a process whose ranks acquire and release, wherever
// they are just then. The survivors meet no other rank inside, and all end.
func TestKilledAnywhere(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	f, victim := withOther(t, killing(), "contend")
	p, err := newParty(f)
	if err != nil {
		t.Fatal(err)
	}
	var busy, killed sync.WaitGroup
	busy.Add(len(p.locks))
	killed.Go(func() {
		victim.ready()
		busy.Wait()
		victim.kill()
	})
	if err := p.contend(len(p.locks), busy.Done); err != nil {
		t.Error(err)
	}
	killed.Wait()
}

// contend acquires and releases until the window fails, and says when each rank
// has begun.
func (p *party) contend(first int, begun func()) error {
	return p.each(first, func(i int, name string, w rma.Window) error {
		m := p.locks[i].At(w)
		for n := 0; ; n++ {
			if over, err := p.visit(i, w, m); over {
				return err
			}
			if n == 3 {
				begun()
			}
		}
	})
}

func contendForAll(f *shm.Fabric, _ string) error {
	p, err := newParty(f)
	if err != nil {
		return err
	}
	var begun sync.WaitGroup
	begun.Add(len(p.locks))
	go func() {
		begun.Wait()
		fmt.Println("ready")
	}()
	return p.contend(0, begun.Done)
}
