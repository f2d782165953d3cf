package topology

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// cgroupDir is where cgroups are mounted by custom.
const cgroupDir = "sys/fs/cgroup"

// cpuset is the set of CPUs that the process's cgroup confines it to, by
// version 1, version 2 or both; nil if there is no confinement that could be
// found. The affinity says the same on a machine where nothing is amiss; this
// is for the others.
func (h host) cpuset() (cpuSet, error) {
	membership, err := fs.ReadFile(h.files, "proc/self/cgroup")
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
			set, err = h.nearestList(part[2], []string{cgroupDir, cgroupDir + "/unified"}, "cpuset.cpus.effective")
		case slices.Contains(strings.Split(part[1], ","), "cpuset"):
			set, err = h.nearestList(part[2], []string{cgroupDir + "/cpuset"}, "cpuset.effective_cpus", "cpuset.cpus")
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
func (h host) nearestList(group string, mounts []string, names ...string) (cpuSet, error) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		for _, mount := range mounts {
			for _, name := range names {
				if set, err := h.list(path.Join(mount, group, name)); err != nil || set != nil {
					return set, err
				}
			}
		}
		if group == "/" {
			return nil, nil
		}
	}
}
