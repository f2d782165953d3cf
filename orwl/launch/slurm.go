package launch

import (
	"slices"
	"strconv"
)

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
