package locks

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// TestTailComesRound lets a rank stay away for so long that the tail is what it was when
// the rank let go of the lock last, and somebody is inside: the rank waits.
func TestTailComesRound(t *testing.T) {
	for _, c := range []struct {
		name string
		// others have all turns but one of those that it takes the tail to come round.
		others func(t *testing.T, m [2]*mutex)
	}{
		{"TKT", func(_ *testing.T, m [2]*mutex) {
			last := m[0].lone.absent - oneTicket
			tickets := m[0].core.(*ticket)
			tickets.next.store(last)
			tickets.serving.store(last)
		}},
		{"CLH", func(t *testing.T, m [2]*mutex) {
			takeTurn(t, m[1]) // and owns the node that rank 0 has released
			own := m[1].core.(*clh).own()
			own.name -= clhTurn
			m[1].lone.present = own.name
			own.flag.store(own.name&clhHigh - clhTurn | granted)
			if own.name != m[0].lone.absent {
				t.Fatalf("the tail will be %x, not %x as it was", own.name, m[0].lone.absent)
			}
		}},
	} {
		for _, ready := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, ready=%t", c.name, ready), func(t *testing.T) {
				m := pair(t, c.name)
				takeTurn(t, m[0])
				if !ready {
					m[0].become(free)
				}
				c.others(t, m)
				acquire(t, m[1])
				before, has := m[1].lone.tail.load(), make(chan error)
				go func() { has <- m[0].Acquire(context.Background()) }()
				for more := 100; more > 0; {
					m[1].w.Pause(1000)
					if m[1].lone.tail.load() != before {
						more--
					}
				}
				select {
				case <-has:
					t.Fatal("rank 0 is inside, and so is rank 1")
				default:
				}
				m[1].Release()
				if err := <-has; err != nil {
					t.Fatal(err)
				}
				m[0].Release()
			})
		}
	}
}

// takeTurn is one by the lock's own way.
func takeTurn(t *testing.T, m *mutex) {
	t.Helper()
	if _, err := m.core.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.core.leave(granted)
}

func acquire(t *testing.T, m *mutex) {
	t.Helper()
	if err := m.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// pair is the handles of two ranks.
func pair(t *testing.T, name string) (m [2]*mutex) {
	t.Helper()
	for p, handle := range handles(t, name, Options{}) {
		switch handle := handle.(type) {
		case *cohortMutex:
			m[p] = &handle.mutex
		case *obliviousCohortMutex:
			m[p] = &handle.mutex
		}
	}
	return m
}

// handles is the handles of two ranks in memory.
func handles(t *testing.T, name string, o Options) (m [2]Mutex) {
	t.Helper()
	tree, err := topology.Parse("core:2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	spec, _ := ByName(name)
	l, err := spec.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	for p := range m {
		w, err := f.Window(Rank(p))
		if err != nil {
			t.Fatal(err)
		}
		m[p] = l.At(w)
	}
	return m
}
