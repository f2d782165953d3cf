package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/apps/dht/resp"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/orwl/launch"
)

// serveFlags are the flags of dht serve.
type serveFlags struct {
	addr         string
	passwordFile string
	clients      int
	idle         time.Duration
	bulk         int
	nodes        command.Nodes
	volumes      int
	memory       int // MiB
	guard        string
	metrics      string
}

// The limits keep a slip of the finger from asking for all memory.
const (
	mostServeNodes = 1 << 6
	mostVolumes    = 1 << 16
	mostMemory     = 1 << 20 // MiB, of a node
	volumesOfNode  = 64
	defaultMemory  = 4096 // MiB
	mebi           = 1 << 20
)

func (o *serveFlags) define(f *flag.FlagSet) {
	o.clients, o.bulk, o.memory = resp.DefaultClients, resp.DefaultBulk, defaultMemory
	f.StringVar(&o.addr, "listen", "127.0.0.1:6379", command.Usage("listen", ", node i at PORT+i, any free port if that is 0; beyond this machine only with a password"))
	command.Old(f, "addr", "listen")
	f.StringVar(&o.passwordFile, "password-file", "", "clients must give the password that is the first line of `FILE`; without it that of the variable "+passwordVariable+", if there is one")
	f.Var(command.Count(&o.clients, resp.MostClients), "clients", "a node serves at most `N` clients at a time")
	f.DurationVar(&o.idle, "idle", 0, "hang up on clients that send or take nothing for a `TIME`, such as 5m; never if 0")
	f.Var(command.Whole(&o.bulk, resp.LeastBulk, resp.MostBulk), "bulk", "a client's string has at most `N` bytes")
	o.nodes.Define(f, mostServeNodes, mostServeNodes, "start `N` nodes, processes of this machine that share the table")
	f.Var(command.Whole(&o.volumes, 0, mostVolumes), "volumes", "the table has `N` volumes, 64 for each node if 0")
	f.Var(command.Count(&o.memory, mostMemory), "memory", "a node takes `N` MiB at most for keys and clients, and up to 64 MiB beside them for itself")
	f.StringVar(&o.metrics, "metrics", "", command.Usage("metrics", ", such as 127.0.0.1:9470"))
	f.StringVar(&o.guard, "guard", "RMA-RW", "the `LOCK` of a volume: any of kind read-write that orwl locks shows")
}

// check complains about flags that are out of their range, for a process in that
// place.
func (o *serveFlags) check(place launch.Place) error {
	nodes := max(1, place.Nodes, o.nodes.Nodes)
	if o.idle != 0 && o.idle < time.Millisecond {
		return command.Misusef("-idle is %v, want 0 or at least 1ms", o.idle)
	}
	if o.volumes == 0 {
		o.volumes = volumesOfNode * nodes
	}
	if first := o.firstBytes(nodes); first < leastVolumeBytes {
		return command.Misusef("-memory is %d and -volumes %d, which leaves a volume %d bytes, want at least %d: ask for fewer volumes, or more memory", o.memory, o.volumes, first, leastVolumeBytes)
	}
	return guardExists(o.guard)
}

// guardExists complains about what no volume can be locked by.
func guardExists(name string) error {
	var names []string
	for _, l := range locks.All() {
		if l.Kind == locks.ReaderWriter {
			names = append(names, l.Name)
		}
	}
	if !slices.Contains(names, name) {
		return command.Misusef("-guard is %q, want %s", name, strings.Join(names, ", "))
	}
	return nil
}

// The sizes that a volume may grow to.
const (
	leastVolumeBytes = 8 << 10
	firstVolumeBytes = 64 << 10
	mostVolumeBytes  = 4 << 30
)

// volumeBytes is how large each volume may grow: as large as all of them together, since what they
// take together is limited elsewhere. The addresses of a process are many, but not endless.
func (o *serveFlags) volumeBytes(nodes int) int {
	return min(o.memory*mebi, mostVolumeBytes, mostAddresses*nodes/o.volumes) &^ 15
}

// mostAddresses is how many bytes of addresses the volumes of a node take.
const mostAddresses = 1 << 45

// firstBytes is how large each volume is at first: all together half of the memory, at most.
func (o *serveFlags) firstBytes(nodes int) int {
	return min(o.memory*mebi/2*nodes/o.volumes, firstVolumeBytes) &^ (4<<10 - 1)
}

// address is where a node listens. Without a password that must be where only this
// machine can connect.
func (o *serveFlags) address(node int, password string) (*net.TCPAddr, error) {
	host, port, err := net.SplitHostPort(o.addr)
	if err != nil {
		return nil, command.Misusef("-listen is %q, want HOST:PORT such as 127.0.0.1:6379", o.addr)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 0 || number > 1<<16-1 {
		return nil, command.Misusef("-listen is %q, want a port from 0 to 65535", o.addr)
	}
	if number != 0 {
		number += node
	}
	if number > 1<<16-1 {
		return nil, command.Misusef("-listen is %q, which leaves no port for node %d", o.addr, node)
	}
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
	if err != nil {
		return nil, command.Misusef("-listen is %q: %s", o.addr, plain(err))
	}
	if password == "" && !at.IP.IsLoopback() {
		return nil, command.Misusef("-listen is %q, where other machines can connect: set a password by -password-file or %s, or listen at 127.0.0.1", o.addr, passwordVariable)
	}
	return at, nil
}

// plain is what went wrong on the network, without what was tried.
func plain(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return fmt.Sprintf("no address of %s: %s", name.Name, name.Err)
	}
	return strings.TrimPrefix(err.Error(), "bind: ")
}
