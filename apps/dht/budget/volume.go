package budget

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
)

// Region is addresses for volumes, one beside the other. An address takes no memory before its first
// use.
type Region struct {
	budget *Budget
	pages  []byte // nil where volumes lie in Go's heap
	most   int    // bytes of a volume
	count  int64
	made   atomic.Int64 // volumes
}

// Reserve reserves addresses for count volumes that may grow to most bytes each. The system may refuse
// very many addresses: then volumes may grow less, as Most tells, but to at least the limit divided by
// count.
func (b *Budget) Reserve(count, most int) (*Region, error) {
	r := &Region{budget: b, most: pageUp(most), count: int64(count)}
	least := pageUp(max(1, min(most, b.limit/count)))
	if !outside {
		return r, nil
	}
	for {
		pages, err := reserve(count * r.most)
		if err == nil {
			r.pages = pages
			// A volume keeps its region, and who uses a volume's bytes keeps the volume.
			runtime.AddCleanup(r, release, pages)
			return r, nil
		}
		if r.most == least {
			return nil, fmt.Errorf("budget: no addresses for %d volumes of %d bytes: %w: see vm.overcommit_memory and ulimit -v", count, least, err)
		}
		r.most = max(least, pageUp(r.most/2))
	}
}

// Most is how many bytes a volume of the region may have.
func (r *Region) Most() int { return r.most }

// Volume makes the next volume, of so many zeroed bytes.
func (r *Region) Volume(size int) (*Volume, error) {
	n := r.made.Add(1) - 1
	if n >= r.count {
		return nil, fmt.Errorf("budget: all %d volumes of the region are made", r.count)
	}
	v := &Volume{region: r}
	if r.pages != nil {
		from := int(n) * r.most
		v.pages = r.pages[from : from+r.most : from+r.most]
	}
	return v, v.Resize(size)
}

// Volume is memory that grows and shrinks where it is. It is a resource.Store.
type Volume struct {
	region  *Region
	pages   []byte // all its addresses, nil in Go's heap
	bytes   []byte
	counted int // bytes of the budget
}

// Bytes are all bytes. The addresses behind an earlier slice stay valid.
func (v *Volume) Bytes() []byte { return v.bytes }

// errTooLarge is a volume that has no addresses left.
var errTooLarge = errors.New("budget: volume is as large as its region allows")

// Resize makes the volume grow, with zeroed bytes, or shrink. If there is no room it is ErrNoRoom, and
// nothing has changed.
func (v *Volume) Resize(size int) error {
	if size > v.region.most {
		return errTooLarge
	}
	b, whole := v.region.budget, pageUp(size)
	if more := whole - v.counted; more > 0 {
		b.mu.Lock()
		dropped, ok := b.fits(more, true)
		if ok {
			b.keys += more
		}
		b.mu.Unlock()
		releaseAll(dropped)
		if !ok {
			return ErrNoRoom
		}
	}
	v.set(size, whole)
	if less := v.counted - whole; less > 0 {
		b.mu.Lock()
		b.keys -= less
		b.tell()
		b.mu.Unlock()
	}
	v.counted = whole
	b.settle()
	return nil
}

// set changes the bytes. Bytes behind the end are always zero.
func (v *Volume) set(size, whole int) {
	if v.pages == nil {
		old := v.bytes
		v.bytes = make([]byte, size)
		copy(v.bytes, old)
		return
	}
	if size < len(v.bytes) {
		clear(v.pages[size:min(whole, len(v.bytes))])
	}
	if whole < v.counted {
		discard(v.pages[whole:v.counted])
	}
	v.bytes = v.pages[:size:size]
	large(v.pages, v.counted, whole)
}

// pageUp is n rounded up to whole pages.
func pageUp(n int) int {
	page := os.Getpagesize()
	return (n + page - 1) / page * page
}
