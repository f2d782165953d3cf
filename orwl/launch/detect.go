package launch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Detect says what the place of a process is that has this environment, these files
// and this host's name. It depends on nothing else, and the place has no Report.
func Detect(getenv func(string) string, readFile func(string) ([]byte, error), hostname func() (string, error)) (Place, error) {
	s := surroundings{getenv, readFile, hostname}
	key, err := s.key()
	if err != nil {
		return Place{}, err
	}
	lease, err := s.lease()
	if err != nil {
		return Place{}, err
	}
	p, err := s.place(key != nil)
	if err != nil {
		return Place{}, err
	}
	p.Key, p.Lease = key, lease
	begin, err := s.begin(p.Nodes)
	if err != nil {
		return Place{}, err
	}
	if begin < p.Nodes {
		p.Begin = begin
	}
	if p.Unmet && p.Begin > 0 {
		return Place{}, mistake(envBegin, "is %d, and nodes that find each other all begin: unset it, or %s", begin, envJoin)
	}
	p.Late, err = s.late(p)
	return p, err
}

// place is the place without the key.
func (s surroundings) place(keyed bool) (Place, error) {
	peers, err := s.peers()
	if err != nil {
		return Place{}, err
	}
	if p, set, err := s.unmet(keyed); set || err != nil {
		return p, err
	}
	nodes, nodesFrom, err := s.size(peers)
	if err != nil {
		return Place{}, err
	}
	if nodes == 1 && s.getenv(envNode) == "" {
		return s.lonely(Alone)
	}
	found, err := s.seat()
	if err != nil {
		return Place{}, err
	}
	if found == nil {
		if variable, value := s.first(envNodes, envPeers, envRoot, envLifeline); variable != "" {
			return Place{}, mistake(envNode, "is not set, and %s is %q: set it to the number of this node, or start the program by a launcher", variable, value)
		}
		return s.lonely(Alone)
	}
	if err := found.agree(nodes, nodesFrom); err != nil {
		return Place{}, err
	}
	if found.nodes == 1 {
		return s.lonely(found.how)
	}
	return s.among(found, peers, keyed)
}

// unmet is the place of a process that ORWL_JOIN lets find the others.
func (s surroundings) unmet(keyed bool) (p Place, set bool, err error) {
	nodes, set, err := s.number(envJoin, 1, mostMet)
	if !set || err != nil {
		return Place{}, set, err
	}
	if variable, value := s.first(envNode, envNodes, envPeers, envRoot); variable != "" {
		return Place{}, true, mistake(variable, "is %q, and %s is %d: unset one of them", value, envJoin, nodes)
	}
	switch {
	case nodes == 1:
		p, err = s.lonely(Alone)
		return p, true, err
	case !keyed:
		return Place{}, true, mistake(envKeyFile, "is not set: the %d nodes find each other by their key", nodes)
	}
	at, err := s.listen(address{anywhere, 0})
	return Place{Nodes: nodes, Unmet: true, Listen: at.String(), How: Rendezvous}, true, err
}

// lonely is the place in a run of one node, which listens only if it is told to.
func (s surroundings) lonely(how How) (Place, error) {
	p := Place{Nodes: 1, How: how}
	if s.getenv(envListen) == "" {
		return p, nil
	}
	port, err := s.port()
	if err != nil {
		return Place{}, err
	}
	at, err := s.listen(address{loopback, port})
	p.Listen = at.String()
	return p, err
}

// among is the place in a run of several.
func (s surroundings) among(found *seat, peers []address, keyed bool) (Place, error) {
	p := Place{Node: found.node, Nodes: found.nodes, How: found.how}
	for _, peer := range peers {
		p.Peers = append(p.Peers, peer.String())
	}
	root, err := s.root(found, peers)
	if err != nil {
		return Place{}, err
	}
	if p.Node != 0 {
		p.Root = root.String()
	}
	at := root
	switch {
	case peers != nil && peers[p.Node] != address{}:
		at = peers[p.Node]
	case p.Node != 0:
		at.port = found.port
	case root == address{}:
		// It goes as far as it may, which without a key is loopback.
		if at.host = loopback; keyed {
			at.host = anywhere
		}
		if at.port, err = s.port(); err != nil {
			return Place{}, err
		}
	}
	at, err = s.listen(at)
	p.Listen = at.String()
	return p, err
}

// listen is where a node listens that others look for at seen.
func (s surroundings) listen(seen address) (address, error) {
	text := s.getenv(envListen)
	if text == "" {
		return seen.listener(), nil
	}
	whole := text
	if strings.HasPrefix(text, ":") {
		whole = anywhere + text
	}
	at, err := parseAddress(whole, seen.port)
	if err != nil {
		return address{}, mistake(envListen, "is %q: %w: want host:port", text, err)
	}
	return at, nil
}

// peers is the list of addresses, or nil. Only a number that does not begin may have none.
func (s surroundings) peers() (peers []address, err error) {
	list := s.getenv(envPeers)
	if list == "" {
		return nil, nil
	}
	begin, err := s.begin(mostNodes)
	if err != nil {
		return nil, err
	}
	where := make(map[address]int)
	for text := range strings.SplitSeq(list, ",") {
		if text == "" && len(peers) >= begin {
			peers = append(peers, address{})
			continue
		}
		peer, err := s.reachable(envPeers, text)
		if err != nil {
			return nil, err
		}
		if other, taken := where[peer]; taken {
			return nil, mistake(envPeers, "has %s for node %d and for node %d: give each its own", peer, other, len(peers))
		}
		where[peer] = len(peers)
		peers = append(peers, peer)
	}
	if len(peers) > mostNodes {
		return nil, mistake(envPeers, "has %d addresses: want at most %d", len(peers), mostNodes)
	}
	return peers, nil
}

// size is how many nodes there are according to our own variables, and which of them
// says so; 0 if none does.
func (s surroundings) size(peers []address) (nodes int, from string, err error) {
	nodes, set, err := s.number(envNodes, 1, mostNodes)
	switch {
	case err != nil:
		return 0, "", err
	case set && peers != nil && nodes != len(peers):
		return 0, "", mistake(envNodes, "is %d, and %s has %d addresses: make them agree, or unset it", nodes, envPeers, len(peers))
	case set:
		return nodes, envNodes, nil
	case peers != nil:
		return len(peers), "the length of " + envPeers, nil
	}
	return 0, "", nil
}

// agree compares the number of nodes that the launcher says with nodes, the number that our
// variables say. Either is 0 if it is not said.
func (found *seat) agree(nodes int, from string) error {
	switch {
	case found.nodes == 0 && nodes == 0:
		return mistake(found.from, "says which node this is, and nothing says of how many: set %s", envNodes)
	case found.nodes == 0:
		found.nodes, found.nodesFrom = nodes, from
	case nodes != 0 && found.nodes != nodes:
		return mistake(found.nodesFrom, "is %d, and %s is %d: start as many as that, or unset it", found.nodes, from, nodes)
	}
	if found.node >= found.nodes {
		return mistake(found.from, "is %d, and %s is %d: want 0 to %d", found.node, found.nodesFrom, found.nodes, found.nodes-1)
	}
	return nil
}

// root is where node 0 is. Only node 0 may do without, and only if no launcher has started it;
// otherwise it would wait for nodes that have given up.
func (s surroundings) root(found *seat, peers []address) (address, error) {
	text := s.getenv(envRoot)
	switch {
	case text != "":
		root, err := s.reachable(envRoot, text)
		if err == nil && peers != nil && root != peers[0] {
			err = mistake(envRoot, "is %s, and %s begins with %s: make them agree, or unset it", root, envPeers, peers[0])
		}
		return root, err
	case peers != nil:
		return peers[0], nil
	case found.root != address{}:
		return found.root, nil
	case found.node == 0 && found.from == envNode:
		return address{}, nil
	}
	return address{}, mistake(envRoot, "%s", found.rootless)
}

// longestHost is the longest name of a host.
const longestHost = 255

var errTooMany = fmt.Errorf("more than %d hosts", mostNodes)

// expandHosts writes a list of hosts in Slurm's notation out: rack[1-2]n[01-03,07],gpu
// is ten hosts, the last number running fastest. Slurm numbers tasks in this order. The
// caller says what is no name of a host.
func expandHosts(list string, check func(host string) error) (hosts []string, err error) {
	for list != "" {
		var item []string
		if item, list, err = expandItem(list, mostNodes-len(hosts)); err != nil {
			return nil, err
		}
		if err := check(item[0]); err != nil { // the others have other digits
			return nil, err
		}
		if hosts = append(hosts, item...); len(hosts) > mostNodes {
			return nil, errTooMany
		}
	}
	if len(hosts) == 0 {
		return nil, errors.New("no host")
	}
	return hosts, nil
}

// expandItem writes out what is before the first comma that is not in brackets, and
// returns what is behind it.
func expandItem(list string, most int) (hosts []string, rest string, err error) {
	hosts = []string{""}
	for {
		i := strings.IndexAny(list, "[],")
		literal := list
		if i >= 0 {
			literal = list[:i]
		}
		for j := range hosts {
			if hosts[j] += literal; len(hosts[j]) > longestHost {
				return nil, "", fmt.Errorf("a host's name has more than %d bytes", longestHost)
			}
		}
		switch {
		case i < 0 || list[i] == ',':
			if hosts[0] == "" || i >= 0 && i+1 == len(list) {
				return nil, "", errors.New("an empty name of a host")
			}
			if i >= 0 {
				rest = list[i+1:]
			}
			return hosts, rest, nil
		case list[i] == ']':
			return nil, "", errors.New("a ] without a [")
		}
		inside, after, closed := strings.Cut(list[i+1:], "]")
		if !closed {
			return nil, "", errors.New("a [ without a ]")
		}
		numbers, err := expandNumbers(inside, most/len(hosts))
		if err != nil {
			return nil, "", err
		}
		hosts, list = cross(hosts, numbers), after
	}
}

// cross is each beginning with each end.
func cross(beginnings, ends []string) []string {
	all := make([]string, 0, len(beginnings)*len(ends))
	for _, b := range beginnings {
		for _, e := range ends {
			all = append(all, b+e)
		}
	}
	return all
}

// expandNumbers writes out what is in brackets: numbers and ranges of numbers, filled
// with zeros to the width of a range's first.
func expandNumbers(text string, most int) (numbers []string, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := digits(low)
		if err != nil {
			return nil, err
		}
		to, err := digits(high)
		if err != nil {
			return nil, err
		}
		if to < from {
			return nil, fmt.Errorf("the range %s runs backwards", part)
		}
		if to-from >= uint64(most-len(numbers)) {
			return nil, errTooMany
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return numbers, nil
}

// digits is a number of at most ten digits and nothing else.
func digits(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > 10 {
		return 0, fmt.Errorf("%q in brackets is no number", text)
	}
	return n, nil
}

// ParseHosts reads the list of hosts that a flag -ssh gets: names with commas between, and
// ranges as Slurm has them, node[01-04]. Before a name may be a user, me@.
func ParseHosts(list string) ([]string, error) {
	hosts, err := expandHosts(list, checkLogin)
	if err != nil {
		return nil, fmt.Errorf("%w: want a list such as host1,host2", err)
	}
	return hosts, nil
}

// checkLogin refuses what ssh would not take for a host, or for something else.
func checkLogin(login string) error {
	if strings.HasPrefix(login, "-") || strings.HasPrefix(login, "@") || strings.ContainsAny(login, " \t\r\n") {
		return errors.New("that is no name of a host")
	}
	return checkHost(hostOf(login))
}

// hostOf is a host without the user.
func hostOf(login string) string { return login[strings.LastIndexByte(login, '@')+1:] }

// mostEnv is how many bytes Run.Env may have over ssh: a pipe has room for it.
const mostEnv = 32 << 10

func (r *Run) validateHosts() error {
	if len(r.Hosts) == 0 || len(r.Hosts) > r.Nodes {
		return fmt.Errorf("%w: Run.Hosts has %d hosts: want 1 to %d, one for each node", ErrOptions, len(r.Hosts), r.Nodes)
	}
	for _, host := range r.Hosts {
		if err := checkLogin(host); err != nil {
			return fmt.Errorf("%w: Run.Hosts has %q: %w", ErrOptions, host, err)
		}
	}
	size := 0
	for _, pair := range r.Env {
		name, _, _ := strings.Cut(pair, "=")
		if size += len(pair); strings.ContainsAny(pair, "\x00\n") || size > mostEnv {
			return fmt.Errorf("%w: Run.Env has %s: over ssh a variable is one line, and all have at most %d bytes", ErrOptions, name, mostEnv)
		}
	}
	return nil
}

// host is the host of a node, "" if that is this machine. Nodes of one host follow each other.
func (r *Run) host(node int) string {
	if r.Hosts == nil {
		return ""
	}
	return r.Hosts[node*len(r.Hosts)/r.Nodes]
}
