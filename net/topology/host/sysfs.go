package host

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cpuDir is where Linux describes its CPUs, below the root of a file system.
const cpuDir = "sys/devices/system/cpu"

// machine reads one machine's files. The file system is a parameter so that
// machines nobody has can be tested.
//
// A file that cannot be read says nothing and is not an error: kernels and
// containers leave many out. A file that can be read and makes no sense is one,
// for whatever is concluded from it would be wrong.
type machine struct {
	files fs.FS
}

// list reads a file that lists CPUs; nil if there is no such file.
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

// number reads a file that holds one number; found is false if there is no such
// file.
func (m machine) number(path string) (n int, found bool, err error) {
	content, err := fs.ReadFile(m.files, path)
	text := strings.TrimSpace(string(content))
	if err != nil || text == "" {
		return 0, false, nil
	}
	if n, err = strconv.Atoi(text); err != nil {
		return 0, false, &DetectError{File: "/" + path, Why: fmt.Sprintf("%.40q is no number", text)}
	}
	return n, true, nil
}

// usable is the set of CPUs that are online and that this process may use.
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

// cgroupDir is where cgroups are mounted by custom.
const cgroupDir = "sys/fs/cgroup"

// cpuset is the set of CPUs that the process's cgroup confines it to, by
// version 1, version 2 or both; nil if there is no confinement that could be
// found. The affinity says the same on a machine where nothing is amiss; this
// is for the others.
func (m machine) cpuset() (cpuSet, error) {
	membership, err := fs.ReadFile(m.files, "proc/self/cgroup")
	if err != nil {
		return nil, nil
	}
	var confined cpuSet
	for line := range strings.Lines(string(membership)) {
		// hierarchy:controllers:path, where version 2 is hierarchy 0 without
		// controllers.
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

// nearestList reads the first of the named files that says something, in the
// group and then in those around it: a container may see the path of its group
// as it is outside and have only the top of it mounted, and a group without the
// cpuset controller is confined like the group around it.
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
