package launch

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// seat is what a launcher says of this process.
type seat struct {
	how  How
	node int
	from string // the variable that says node

	nodes     int    // 0 if the launcher does not say
	nodesFrom string // the variable that says nodes

	root     address // the address of node 0, if the launcher knows it
	rootless string  // the advice for the user if it does not
	port     int     // the port that all nodes except 0 listen on; 0 is any
}

// seat asks the launchers, the innermost first: processes that mpirun starts in a
// Slurm job have Slurm's variables as well, which are about the job or about mpirun's
// own daemons. It is nil if no launcher has started this process.
func (s surroundings) seat() (*seat, error) {
	for _, ask := range []func() (*seat, error){s.own, s.openMPI, s.hydra, s.slurm, s.pmix, s.kubernetes} {
		if found, err := ask(); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// own is what ORWL_NODE says.
func (s surroundings) own() (*seat, error) {
	node, set, err := s.number(envNode, 0, mostNodes-1)
	if !set || err != nil {
		return nil, err
	}
	found := &seat{how: Environment, node: node, from: envNode,
		rootless: "is not set: set it to host:port of node 0, or " + envPeers + " to those of all nodes"}
	switch s.getenv(envLifeline) {
	case "":
	case strconv.Itoa(inputFD):
		found.how = SSH
	default:
		found.how = Spawned
	}
	return found, nil
}

// ranked is what a launcher says in two variables. The second is needed only if the
// first is set.
func (s surroundings) ranked(how How, rank, size string) (*seat, error) {
	node, set, err := s.number(rank, 0, mostNodes-1)
	if !set || err != nil {
		return nil, err
	}
	found := &seat{how: how, node: node, from: rank}
	if size == "" {
		return found, nil
	}
	nodes, set, err := s.number(size, 1, mostNodes)
	if err != nil {
		return nil, err
	} else if !set {
		return nil, mistake(rank, "is set, and %s is not: start the program by its launcher, or set %s and %s", size, envNode, envNodes)
	}
	found.nodes, found.nodesFrom = nodes, size
	return found, nil
}

// Slurm numbers the steps of a job from 0. The last numbers are for what is no step
// of srun's: the batch script, an interactive shell, what prologs start.
const specialSteps = 0xfffffff0

// inStep reports whether srun has started this process. A batch script has
// SLURM_PROCID and SLURM_NTASKS, too, and is one process for all that; a program that
// is started there without srun is alone, and must not wait for others.
func (s surroundings) inStep() bool {
	_, text := s.first("SLURM_STEP_ID", "SLURM_STEPID")
	step, err := strconv.ParseUint(text, 10, 32)
	return err == nil && step < specialSteps
}

// slurm is what srun says. Node 0 is on the first host of the step, at a port that
// depends on job and step. How many tasks are on which host does not matter: the
// others listen on any port, and tell node 0.
func (s surroundings) slurm() (*seat, error) {
	if !s.inStep() {
		return nil, nil
	}
	size, _ := s.first("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
	if size == "" {
		size = "SLURM_NTASKS"
	}
	found, err := s.ranked(Slurm, "SLURM_PROCID", size)
	if found == nil || err != nil || found.nodes == 1 {
		return found, err
	}
	list, text := s.first("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST")
	if list == "" {
		found.rootless = "is not set, nor is SLURM_STEP_NODELIST: set it to host:port of task 0"
		return found, nil
	}
	hosts, err := expandHosts(text, checkHost)
	if err != nil {
		return nil, mistake(list, "is %q: %w: set %s to host:port of task 0, and unset it", text, err, envRoot)
	}
	port, err := s.jobPort(s.stepOffset())
	if err != nil {
		return nil, err
	}
	host := hosts[0]
	if !slices.ContainsFunc(hosts, func(other string) bool { return other != host }) {
		host = loopback
	}
	found.root = address{host, port}
	return found, nil
}

// stepOffset keeps jobs whose numbers are near each other, and the steps of a job,
// from meeting at a port if they meet on a host.
func (s surroundings) stepOffset() int {
	const steps = 16 // a job with more steps reaches the ports of the next job
	_, job := s.first("SLURM_JOB_ID", "SLURM_JOBID")
	_, step := s.first("SLURM_STEP_ID", "SLURM_STEPID")
	j, _ := strconv.ParseUint(job, 10, 32)
	k, _ := strconv.ParseUint(step, 10, 32)
	return int((j*steps + k) % portSpan)
}

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

// kubernetes reads the name of a pod, if ORWL_SERVICE says that pods are nodes. An Indexed
// Job and a StatefulSet both call their pods NAME-0, NAME-1 and so on, and a headless Service
// turns these names into names of hosts. If the pods of an Indexed Job do not
// need each other, they have no ORWL_SERVICE, and each is alone.
func (s surroundings) kubernetes() (*seat, error) {
	service := s.getenv(envService)
	index, indexed, err := s.number("JOB_COMPLETION_INDEX", 0, mostNodes-1)
	if err != nil || service == "" && (!indexed || s.getenv(envNodes) == "" && s.getenv(envPeers) == "") {
		return nil, err
	}
	found := &seat{how: Kubernetes, node: index, from: "JOB_COMPLETION_INDEX"}
	if service == "" {
		found.rootless = "is not set, nor is " + envService + ": set that to the name of the Job's headless Service"
		return found, nil
	}
	if err := checkHost(service); err != nil {
		return nil, mistake(envService, "is %q: %w: want the name of a headless Service", service, err)
	}
	pod, err := s.hostname()
	if err != nil {
		return nil, mistake(envService, "is set, and this pod's name is not known: %w", err)
	}
	pod, _, _ = strings.Cut(pod, ".")
	name, ordinal, ok := splitOrdinal(pod)
	if !ok {
		return nil, mistake(envService, "is set, and this pod is called %q: want NAME-0, NAME-1, ..., as an Indexed Job or a StatefulSet calls its pods, and no hostNetwork", pod)
	}
	if indexed && ordinal != index {
		return nil, mistake("JOB_COMPLETION_INDEX", "is %d, and this pod is called %q: want a name that ends in -%d", index, pod, index)
	}
	found.node = ordinal
	if !indexed {
		found.from = "the pod's name " + pod
	}
	if found.port, err = s.port(); err != nil {
		return nil, err
	}
	found.root = address{name + "-0." + service, found.port}
	if err := checkHost(found.root.host); err != nil {
		return nil, mistake(envService, "is %q, and this pod is called %q: node 0 would be %s: %w", service, pod, found.root.host, err)
	}
	return found, nil
}

// splitOrdinal takes the name of a pod apart, such as web-12.
func splitOrdinal(pod string) (name string, ordinal int, ok bool) {
	i := strings.LastIndexByte(pod, '-')
	if i <= 0 {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(pod[i+1:])
	return pod[:i], ordinal, err == nil && strconv.Itoa(ordinal) == pod[i+1:]
}
