package launch

import (
	"errors"
	"fmt"
	"strings"
)

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
