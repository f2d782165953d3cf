package topology

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// cpuDir is where Linux describes its CPUs, below the root of a file system.
const cpuDir = "sys/devices/system/cpu"

// host reads one machine's files. The file system is a parameter so that
// machines nobody has can be tested.
//
// A file that cannot be read says nothing and is not an error: kernels and
// containers leave many out. A file that can be read and makes no sense is one,
// for whatever is concluded from it would be wrong.
type host struct {
	files fs.FS
}

// list reads a file that lists CPUs; nil if there is no such file.
func (h host) list(path string) (cpuSet, error) {
	content, err := fs.ReadFile(h.files, path)
	if err != nil {
		return nil, nil
	}
	set, err := parseCPUs(string(content))
	if err != nil {
		return nil, &DetectError{File: "/" + path, Why: err.Error()}
	}
	return set, nil
}

// number reads a file that holds one number; found is false if there is no such
// file.
func (h host) number(path string) (n int, found bool, err error) {
	content, err := fs.ReadFile(h.files, path)
	text := strings.TrimSpace(string(content))
	if err != nil || text == "" {
		return 0, false, nil
	}
	if n, err = strconv.Atoi(text); err != nil {
		return 0, false, &DetectError{File: "/" + path, Why: fmt.Sprintf("%q is no number", clip(text))}
	}
	return n, true, nil
}

// usable is the set of CPUs that are online and that this process may use.
func (h host) usable(allowed cpuSet) (cpuSet, error) {
	online, err := h.online()
	if err != nil {
		return nil, err
	}
	confined, err := h.cpuset()
	if err != nil {
		return nil, err
	}
	usable := narrow(narrow(allowed, online), confined)
	if usable == nil {
		return nil, &DetectError{Why: "neither the affinity nor /" + cpuDir + " tells which CPUs there are"}
	}
	return usable, nil
}

// narrow is the intersection of two sets where nil means unknown. The first is
// trusted more: what the scheduler lets us use is there, even if a container
// was given files about other CPUs.
func narrow(set, by cpuSet) cpuSet {
	if set == nil {
		return by
	}
	if both := set.and(by); both != nil {
		return both
	}
	return set
}

// online lists the CPUs that are running; nil if unknown. Without the list, the
// CPUs that have a description count, for the kernel withdraws it from those
// that it takes offline.
func (h host) online() (cpuSet, error) {
	online, err := h.list(cpuDir + "/online")
	if err != nil || online != nil {
		return online, err
	}
	described, err := fs.Glob(h.files, cpuDir+"/cpu[0-9]*/topology")
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
