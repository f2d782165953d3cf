package launch

import "hash/fnv"

const mpiRootless = "is not set, and an MPI launcher does not say on which host rank 0 is: set it to host:port of rank 0 for all ranks"

// openMPI is what Open MPI's mpirun says.
func (s surroundings) openMPI() (*seat, error) {
	found, err := s.ranked(OpenMPI, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
	if found == nil || err != nil {
		return nil, err
	}
	_, job := s.first("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")
	return s.together(found, "OMPI_COMM_WORLD_LOCAL_SIZE", job)
}

// hydra is what MPICH's or Intel's mpiexec says. srun can set PMI_RANK, too; what
// only Hydra sets is the number of ranks on this host. Within a step of Slurm that
// decides: srun is then what started Hydra's daemons.
func (s surroundings) hydra() (*seat, error) {
	const local = "MPI_LOCALNRANKS"
	if s.getenv(local) == "" && s.inStep() {
		return nil, nil
	}
	found, err := s.ranked(MPICH, "PMI_RANK", "PMI_SIZE")
	if found == nil || err != nil {
		return nil, err
	}
	return s.together(found, local, "")
}

// pmix is what every PMIx launcher says, which is the rank and not of how many.
func (s surroundings) pmix() (*seat, error) {
	found, err := s.ranked(PMIx, "PMIX_RANK", "")
	if found == nil || err != nil {
		return nil, err
	}
	found.rootless = mpiRootless
	return found, nil
}

// together gives a run an address for node 0 if all its ranks are on this host. The port
// depends on the job's name, if it has one. Any other run needs ORWL_ROOT.
func (s surroundings) together(found *seat, localSize, job string) (*seat, error) {
	found.rootless = mpiRootless
	local, _, err := s.number(localSize, 1, mostNodes)
	if err != nil || local != found.nodes {
		return found, err
	}
	port, err := s.jobPort(scatter(job))
	if err != nil {
		return nil, err
	}
	found.root = address{loopback, port}
	return found, nil
}

// scatter makes a number of a job's name, so that jobs that meet on a host seldom meet
// at a port.
func scatter(job string) int {
	if job == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(job)) // never fails
	return int(h.Sum32() % portSpan)
}
