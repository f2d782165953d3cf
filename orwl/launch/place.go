package launch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Place is a process's part of a run.
type Place struct {
	// Node is the number of this node, of Nodes.
	Node, Nodes int
	// Root is where node 0 is, as host:port. Node 0 itself has none.
	Root string
	// Listen is where to listen, as host:port; port 0 is any. It is empty if there is one node
	// and no variable asks it to listen.
	Listen string
	// Peers is where all nodes are, by their numbers, if that is known. Root is the
	// first of them then, except for node 0.
	Peers []string
	// Key is the cluster key, nil if there is none.
	Key []byte
	// Lease is how long a node counts as present after it was last heard; 0 if no variable says
	// so.
	Lease time.Duration
	// How is who said so.
	How How
	// Begin is how many nodes begin the run, those with the lowest numbers. The others are free
	// numbers, until processes come late. 0 is all.
	Begin int
	// Late says that the node comes to a run that goes on: it does not begin, or was lost, or has
	// left. See orwl.Runtime.Late.
	Late bool
	// Report tells the process that started this one where it listens, once, as host:port. It is
	// nil if no process waits for that.
	Report func(address string) error
	// Unmet says that the process knows only how many nodes there are, and finds the others by
	// their key: see orwl.Meet, which gives it a number.
	Unmet bool
	// Left is told when the process has left the run; nil if nothing waits for that.
	Left func()
	// GoOn tells the process that started this one that the run has begun, and goes on without
	// nodes that are lost from now on; or that this late node is in it. Until then the first
	// node that fails ends all. It is nil if Report is.
	GoOn func() error
	// Done tells the process that started this one that the run has ended well here, and so for all: a node that fails later
	// was given up by then. It is nil if Report is.
	Done func() error
	// Progress tells the process that started this one how far it is, as often as it likes. It is
	// nil if no process wants to know.
	Progress func(Progress) error
}

// How names who said which node a process is.
type How string

// The sources of a place.
const (
	Alone       How = "alone"       // no source
	Spawned     How = "spawned"     // Spawn, which started it on its own machine
	SSH         How = "ssh"         // Spawn, which started it over ssh
	Environment How = "environment" // ORWL_NODE
	OpenMPI     How = "openmpi"     // Open MPI's mpirun
	MPICH       How = "mpich"       // MPICH's or Intel's mpiexec, which is Hydra
	Slurm       How = "slurm"       // srun
	PMIx        How = "pmix"        // some other launcher that speaks PMIx
	Kubernetes  How = "kubernetes"  // the name of a pod
	Rendezvous  How = "rendezvous"  // the nodes themselves, which ORWL_JOIN lets find each other
)

// BySpawn reports whether Spawn has started the process. Spawn then waits for it, and tells how
// it ended.
func (h How) BySpawn() bool { return h == Spawned || h == SSH }

// PortOffset is what a program adds to a port of its own, so that the nodes of one machine do not
// meet there. In Kubernetes each node has an address of its own, and the same port.
func (p Place) PortOffset() int {
	if p.How == Kubernetes {
		return 0
	}
	return p.Node
}

// String is a place in a line, without its key.
func (p Place) String() string {
	text := fmt.Sprintf("node %d of %d (%s)", p.Node, p.Nodes, p.How)
	if p.Unmet {
		text = fmt.Sprintf("one of %d nodes (%s)", p.Nodes, p.How)
	}
	if p.Root != "" {
		text += ", root at " + p.Root
	}
	if p.Listen != "" {
		text += ", listens on " + p.Listen
	}
	if p.Key != nil {
		text += ", has a key"
	}
	if p.Late {
		text += ", comes late"
	}
	return text
}

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

// The bounds of a key's length, in bytes.
const (
	leastKey = 16
	mostKey  = 1024
)

// NewKey returns a new cluster key: 32 random bytes, in hexadecimal.
func NewKey() []byte {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	return hex.AppendEncode(nil, secret[:])
}

// key is the cluster key, or nil: the text in a variable or in a file, without the
// white space around it. No message says anything of a key but its length.
func (s surroundings) key() ([]byte, error) {
	text, file := s.getenv(envKey), s.getenv(envKeyFile)
	variable := envKey
	switch {
	case text == "" && file == "":
		return nil, nil
	case text != "" && file != "":
		return nil, mistake(envKey, "and %s are both set: unset one of them", envKeyFile)
	case file != "":
		content, err := s.readFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, mistake(envKeyFile, "is %q, and there is no such file: make it by (umask 077; openssl rand -hex 32 >FILE), and copy it to all machines", file)
		}
		if err != nil {
			return nil, mistake(envKeyFile, "is %q: %w", file, err)
		}
		text, variable = string(content), envKeyFile
	}
	text = strings.TrimSpace(text)
	if len(text) < leastKey || len(text) > mostKey {
		return nil, mistake(variable, "gives a key of %d bytes: want %d to %d, such as openssl rand -hex 32 prints", len(text), leastKey, mostKey)
	}
	return []byte(text), nil
}
