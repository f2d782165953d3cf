package resource

// line lists a waiter while the word has the state that it waits on. It looks at the
// word again after listing. A goroutine that ends that state looks at the list
// afterwards. So neither misses the other.
func (g *guard) line(w *waiter, mask, while uint64) {
	w.begin(listed)
	w.next = nil
	g.r.put(&g.list, w)
	if g.load()&mask != while || g.r.load(&g.r.completed)&broken != 0 {
		g.wake()
	}
}

// wake makes every listed waiter look again.
func (g *guard) wake() {
	g.r.point()
	if g.list.Load() == nil {
		return
	}
	g.r.point()
	for w := g.list.Swap(nil); w != nil; {
		next := w.next
		w.grant(nil)
		w = next
	}
}

func (g *guard) load() uint64 {
	g.r.point()
	v := g.word.Load()
	g.r.saw(v)
	return v
}

func (g *guard) cas(old, new uint64) bool {
	g.r.point()
	done := g.word.CompareAndSwap(old, new)
	if done {
		g.r.saw(new)
	} else {
		g.r.saw(old + 1)
	}
	return done
}

func (g *guard) and(mask uint64) {
	g.r.point()
	g.r.saw(g.word.And(mask))
}
