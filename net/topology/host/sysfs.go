package host

import (
	"fmt"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cpuDir is the folder in which Linux describes its CPUs, as fs.FS wants it.
const cpuDir = "sys/devices/system/cpu"

// machine reads the files of one machine. The file system is a parameter, so that
// tests can make up machines.
//
// A file that cannot be read is not an error, since kernels and containers leave
// many out. A file with content that machine does not understand is an error,
// since every conclusion from it would be wrong.
type machine struct {
	files fs.FS
}

// list reads a file that lists CPUs. It returns nil if there is no such file.
func (m machine) list(path string) (cpuSet, error) {
	content, err := fs.ReadFile(m.files, path)
	if err != nil {
		return nil, nil
	}
	set, err := parseCPUs(string(content))
	if err != nil {
		return nil, &DetectError{File: "/" + path, Why: err.Error()}
	}
	return set, nil
}

// number reads a file with one number. found is false if there is no such file.
func (m machine) number(path string) (n int, found bool, err error) {
	content, err := fs.ReadFile(m.files, path)
	text := strings.TrimSpace(string(content))
	if err != nil || text == "" {
		return 0, false, nil
	}
	if n, err = strconv.Atoi(text); err != nil {
		return 0, false, &DetectError{File: "/" + path, Why: fmt.Sprintf("%.40q is not a number", text)}
	}
	return n, true, nil
}

// usable returns the CPUs that are online and that this process may use.
func (m machine) usable(allowed cpuSet) (cpuSet, error) {
	online, err := m.online()
	if err != nil {
		return nil, err
	}
	confined, err := m.cpuset()
	if err != nil {
		return nil, err
	}
	usable := narrow(narrow(allowed, online), confined)
	if usable == nil {
		return nil, &DetectError{Why: "neither the affinity nor /" + cpuDir + " lists the CPUs"}
	}
	return usable, nil
}

// narrow returns the intersection of two sets. A set that is nil is unknown, and
// the result is the other one. If the two have no CPU in common, the result is the
// first one: the scheduler knows better than the files of a container, which may be
// about another machine.
func narrow(set, by cpuSet) cpuSet {
	if set == nil {
		return by
	}
	if both := set.and(by); both != nil {
		return both
	}
	return set
}

// online returns the CPUs that are running, or nil if they are not known. If the
// kernel has no list of them, online counts the CPUs that have a description. The
// kernel removes the description of a CPU that goes offline.
func (m machine) online() (cpuSet, error) {
	online, err := m.list(cpuDir + "/online")
	if err != nil || online != nil {
		return online, err
	}
	described, err := fs.Glob(m.files, cpuDir+"/cpu[0-9]*/topology")
	if err != nil {
		return nil, err // only for a malformed pattern
	}
	for _, path := range described {
		name := strings.TrimSuffix(strings.TrimPrefix(path, cpuDir+"/cpu"), "/topology")
		if cpu, err := parseCPU(name); err == nil {
			online = online.with(cpu)
		}
	}
	return online, nil
}

// cgroupDir is the usual mount point of cgroups.
const cgroupDir = "sys/fs/cgroup"

// cpuset returns the CPUs that the cgroup of the process allows, by version 1,
// version 2 or both. It returns nil if it finds no limit. The affinity usually
// says the same. The files help if the affinity is unknown or too wide.
func (m machine) cpuset() (cpuSet, error) {
	membership, err := fs.ReadFile(m.files, "proc/self/cgroup")
	if err != nil {
		return nil, nil
	}
	var confined cpuSet
	for line := range strings.Lines(string(membership)) {
		// hierarchy:controllers:path. Version 2 has hierarchy 0 and no controllers.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		set := cpuSet(nil)
		switch {
		case part[0] == "0" && part[1] == "":
			set, err = m.nearestList(part[2], []string{cgroupDir, cgroupDir + "/unified"}, "cpuset.cpus.effective")
		case slices.Contains(strings.Split(part[1], ","), "cpuset"):
			set, err = m.nearestList(part[2], []string{cgroupDir + "/cpuset"}, "cpuset.effective_cpus", "cpuset.cpus")
		}
		if err != nil {
			return nil, err
		}
		confined = narrow(confined, set)
	}
	return confined, nil
}

// nearestList reads the named files in the group, then in its parents, and returns
// the first list that is not empty. Parents matter for two reasons. A group without
// the cpuset controller has the limits of its parent. A container may see the path
// of its group as it is outside, and only the top of the tree.
func (m machine) nearestList(group string, mounts []string, names ...string) (cpuSet, error) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		for _, mount := range mounts {
			for _, name := range names {
				if set, err := m.list(path.Join(mount, group, name)); err != nil || set != nil {
					return set, err
				}
			}
		}
		if group == "/" {
			return nil, nil
		}
	}
}

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
