package queue

import (
	"fmt"
	"runtime"
	"testing"
)

// The memory of an idle resource that another node has used, on either side, with all that
// the sites keep of it. A program has thousands of both.
func TestSiteMemory(t *testing.T) {
	needsOrdinaryBuild(t)
	const count, most = 10_000, 1024
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	live := func() int64 {
		runtime.GC()
		runtime.GC() // it frees the memory of pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	n := newNetwork(2, SiteOptions{})
	homes, mirrors := make([]*Resource, count), make([]*Resource, count)
	declare := func(all []*Resource, with func(*Resource) error) (each int64) {
		before := live()
		for i := range all {
			r, err := New(names[i], 8)
			if err == nil {
				err = with(r)
			}
			fine(t, err)
			all[i] = r
		}
		return (live() - before) / count
	}
	home := declare(homes, func(r *Resource) error { return n.sites[0].Home(r) })
	mirror := declare(mirrors, func(r *Resource) error { return n.sites[1].Mirror(r, 0) })
	before := live()
	for _, r := range mirrors {
		var p, q Place
		fine(t, p.Request(r, Write))
		fine(t, q.Request(r, Write))
		n.settle(t)
		fine(t, p.Acquire(t.Context()))
		_, err := p.Writable()
		fine(t, err)
		fine(t, p.Release())
		n.settle(t)
		fine(t, q.Acquire(t.Context()))
		fine(t, q.Release())
		n.settle(t)
	}
	used := (live() - before) / count
	t.Logf("a home takes %d bytes, a mirror %d; both together %d more once they were used", home, mirror, used)
	// Use has added the requests of the mirror and the guests of the home. Each side counts
	// both.
	if home+used > most || mirror+used > most {
		t.Errorf("want at most %d on each side", most)
	}
	runtime.KeepAlive(homes)
	runtime.KeepAlive(mirrors)
}
