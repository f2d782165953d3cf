package launch

import "strconv"

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
