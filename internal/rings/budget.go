package rings

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"strconv"
)

// Budget is how much an exploration plays. A flag overrides what the ring says.
type Budget struct {
	rings [3]int
	given int
	set   bool
}

// Size registers a flag with a budget for each ring.
func Size(name string, user, change, night int, usage string) *Budget {
	b := &Budget{rings: [3]int{user, change, night}}
	flag.Var(b, name, usage+b.defaults())
	return b
}

// N is the budget in this ring, or what the flag says.
func (b *Budget) N() int {
	if b.set {
		return b.given
	}
	return b.rings[Now()]
}

// Set is called by package flag.
func (b *Budget) Set(text string) (err error) {
	b.given, err = strconv.Atoi(text)
	b.set = err == nil
	return err
}

// String is called by package flag, also for the zero value.
func (b *Budget) String() string {
	if b.set {
		return strconv.Itoa(b.given)
	}
	return ""
}

func (b *Budget) defaults() string {
	return fmt.Sprintf(" (%d, in CI %d, in the nightly %d)", b.rings[User], b.rings[Change], b.rings[Night])
}

// Range is which seeds an exploration plays.
type Range struct {
	few, all int
	first, n int
	set      bool
}

// Seeds registers a flag with the seeds that users play and those that the nightly plays. Its
// text is a number of seeds, or FIRST+NUMBER.
func Seeds(name string, few, all int, usage string) *Range {
	if few > all {
		panic(fmt.Sprintf("%s: %d seeds for users, and %d for all", name, few, all))
	}
	r := &Range{few: few, all: all}
	flag.Var(r, name, fmt.Sprintf("%s (%d, in the nightly %d, in CI a share of them)", usage, few, all))
	return r
}

// Span is the first seed and how many there are.
func (r *Range) Span() (first uint64, n int) {
	switch {
	case r.set:
		return uint64(r.first), r.n
	case Now() == User:
		return 0, r.few
	case Now() == Night:
		return 0, r.all
	}
	first, n = share(r.all)
	return first, max(n, 1)
}

// All are the seeds.
func (r *Range) All() iter.Seq[uint64] { return r.Part(1, 1) }

// Part are n/d of the seeds, but at least one.
func (r *Range) Part(n, d int) iter.Seq[uint64] {
	first, all := r.Span()
	return func(yield func(uint64) bool) {
		for i := range uint64(max(1, all*n/d)) {
			if !yield(first + i) {
				return
			}
		}
	}
}

// Takes reports whether this run plays case i of many that are searched as a whole. A change plays one of n cases, and which one
// follows from its share: where n divides the number of shares, all changes together play all cases. Users and the nightly play all.
func Takes(i, n int) bool {
	k, _ := turn()
	return Now() != Change || i%n == k%n
}

// share is the part of all seeds that this change plays.
func share(all int) (first uint64, n int) {
	k, of := turn()
	begin, end := all*k/of, all*(k+1)/of
	return uint64(begin), end - begin
}

// turn is what ORWL_SHARE says: this is share k of so many.
func turn() (k, of int) {
	k, of = 0, 16
	if text := os.Getenv(Share); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &k, &of); err != nil || k < 0 || of < 1 || k >= of {
			panic(fmt.Sprintf("%s is %q: want K/N, such as 3/16, with K below N", Share, text))
		}
	}
	return k, of
}

// Set is called by package flag.
func (r *Range) Set(text string) error {
	if _, err := fmt.Sscanf(text, "%d+%d", &r.first, &r.n); err != nil {
		r.first = 0
		if r.n, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("want a number of seeds, or FIRST+NUMBER")
		}
	}
	if r.set = r.first >= 0 && r.n >= 0; !r.set {
		return fmt.Errorf("want no negative number")
	}
	return nil
}

// String is called by package flag, also for the zero value.
func (r *Range) String() string {
	if !r.set {
		return ""
	}
	return fmt.Sprintf("%d+%d", r.first, r.n)
}
