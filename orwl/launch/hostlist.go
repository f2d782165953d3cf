package launch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

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
