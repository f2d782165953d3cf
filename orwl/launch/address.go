package launch

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

const (
	defaultPort = 7717
	// portSpan is how many ports there are for jobs, from defaultPort on. They end below the
	// ephemeral ports of Linux.
	portSpan = 20000

	loopback = "127.0.0.1"
	anywhere = "0.0.0.0"
)

// port is ORWL_PORT.
func (s surroundings) port() (int, error) {
	port, set, err := s.number(envPort, 1, 65535)
	if text := s.getenv(envPort); err != nil && strings.HasPrefix(text, "tcp://") {
		return 0, mistake(envPort, "is %q, which Kubernetes sets for a Service called orwl: say enableServiceLinks: false in the pod's spec", text)
	}
	if err == nil && !set {
		port = defaultPort
	}
	return port, err
}

// jobPort is ORWL_PORT if it is set, otherwise one that offset picks, 0 to portSpan-1.
func (s surroundings) jobPort(offset int) (int, error) {
	port, err := s.port()
	if s.getenv(envPort) == "" {
		port += offset
	}
	return port, err
}

// address is a host and a port. The zero value is none.
type address struct {
	host string
	port int
}

func (a address) String() string {
	if a == (address{}) {
		return ""
	}
	return net.JoinHostPort(a.host, strconv.Itoa(a.port))
}

// parseAddress reads host:port. A host alone gets the port.
func parseAddress(text string, port int) (address, error) {
	host, digits, err := splitAddress(strings.TrimSpace(text))
	if err == nil && digits != "" {
		port, err = strconv.Atoi(digits)
		if err != nil || port < 0 || port > 65535 {
			err = errors.New("its port is no number from 0 to 65535")
		}
	}
	if err == nil {
		err = checkHost(host)
	}
	return address{host, port}, err
}

// reachable is an address that others connect to, so it has a port.
func (s surroundings) reachable(variable, text string) (address, error) {
	port, err := s.port()
	if err != nil {
		return address{}, err
	}
	a, err := parseAddress(text, port)
	if err == nil && a.port == 0 {
		err = errors.New("no node can connect to port 0")
	}
	if err != nil {
		return address{}, mistake(variable, "is %q: %w: want host:port", text, err)
	}
	return a, nil
}

// splitAddress takes host:port apart; the port may be missing.
func splitAddress(text string) (host, port string, err error) {
	if ip, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return ip.String(), "", nil
	}
	if !strings.Contains(text, ":") {
		return text, "", nil
	}
	host, port, err = net.SplitHostPort(text)
	if err == nil && port == "" {
		err = errors.New("no port behind the colon")
	}
	return host, port, err
}

// checkHost refuses what is neither a name nor a number of a host.
func checkHost(host string) error {
	if host == "" {
		return errors.New("no host")
	}
	name := host
	if ip, err := netip.ParseAddr(host); err == nil {
		name = ip.Zone()
	}
	if strings.ContainsAny(name, " \t\r\n/\\,;:@[]") {
		return errors.New("that is no name of a host")
	}
	return nil
}

// listener is where to listen so that a is reached: loopback stays loopback, and
// everything else becomes all interfaces, since what a machine is called outside may
// not be what its interfaces are called inside.
func (a address) listener() address {
	ip, err := netip.ParseAddr(a.host)
	switch {
	case a.host == "localhost":
		a.host = loopback
	case err == nil && ip.IsLoopback():
	case err == nil && ip.Is6() && !ip.Is4In6():
		a.host = "::"
	default:
		a.host = anywhere
	}
	return a
}

// dialled is where others connect to a process that listens at a, on a machine of that name.
func (a address) dialled(machine string) address {
	if ip, err := netip.ParseAddr(a.host); err == nil && ip.IsUnspecified() {
		a.host = machine
	}
	return a
}
