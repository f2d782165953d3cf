package host

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// maxCPUs limits CPU numbers. It exceeds the limit of every kernel, and keeps a
// list such as 0-4294967295 from using up the memory.
const maxCPUs = 1 << 14

// cpuSet is a set of CPU numbers, one bit each. The empty set is nil.
type cpuSet []uint64

// parseCPUs reads a list in the kernel's format, such as 0-3,8-11. Blank text is
// the empty set.
func parseCPUs(text string) (cpuSet, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var set cpuSet
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := parseCPU(low)
		last := first
		if err == nil && isRange {
			last, err = parseCPU(high)
		}
		if err != nil || last < first {
			return nil, fmt.Errorf("%.40q is not a list of CPU numbers below %d", text, maxCPUs)
		}
		for cpu := first; cpu <= last; cpu++ {
			set = set.with(cpu)
		}
	}
	return set, nil
}

func parseCPU(text string) (int, error) {
	cpu, err := strconv.ParseUint(text, 10, 32)
	if err == nil && cpu >= maxCPUs {
		err = strconv.ErrRange
	}
	return int(cpu), err
}

// with adds a CPU and returns the set. It may change s, like append.
func (s cpuSet) with(cpu int) cpuSet {
	for cpu/64 >= len(s) {
		s = append(s, 0)
	}
	s[cpu/64] |= 1 << (cpu % 64)
	return s
}

func (s cpuSet) has(cpu int) bool {
	return cpu/64 < len(s) && s[cpu/64]>>(cpu%64)&1 == 1
}

// and returns the intersection as a new set.
func (s cpuSet) and(u cpuSet) cpuSet {
	var both cpuSet
	for cpu := range s.all {
		if u.has(cpu) {
			both = both.with(cpu)
		}
	}
	return both
}

// all yields the CPUs in ascending order.
func (s cpuSet) all(yield func(cpu int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// first returns the smallest CPU number, or absent if the set is empty.
func (s cpuSet) first(absent int) int {
	for cpu := range s.all {
		return cpu
	}
	return absent
}

// String returns the set in the kernel's list format.
func (s cpuSet) String() string {
	var b strings.Builder
	begin, end := -1, -1
	flush := func() {
		if begin < 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(begin))
		if end > begin {
			b.WriteString("-" + strconv.Itoa(end))
		}
	}
	for cpu := range s.all {
		if begin < 0 || cpu != end+1 {
			flush()
			begin = cpu
		}
		end = cpu
	}
	flush()
	return b.String()
}
