package topology

import (
	"os"

	"golang.org/x/sys/unix"
)

func detectHost() (*Tree, error) {
	// Where the affinity cannot be read, the files have to do.
	allowed, _ := affinity()
	return detect(os.DirFS("/"), allowed.cpus())
}

// mask is a set of CPUs in the form that system calls take.
type mask unix.CPUSetDynamic

// affinity is the set of CPUs that the calling thread may use.
func affinity() (mask, error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, set); err != nil {
		return nil, err
	}
	return mask(set), nil
}

func (m mask) cpus() (set cpuSet) {
	for cpu := range maxCPUs {
		if unix.CPUSetDynamic(m).IsSet(cpu) {
			set = set.with(cpu)
		}
	}
	return set
}
