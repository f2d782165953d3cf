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
	nodes, join  int
	ssh          string
	hosts        []string // of ssh
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
	mebi           = 1 << 20
)

func (o *serveFlags) define(f *flag.FlagSet) {
	f.StringVar(&o.addr, "listen", "127.0.0.1:6379", command.Usage("listen", ", node i at PORT+i, any free port if that is 0; beyond this machine only with a password"))
	command.Old(f, "addr", "listen")
	f.StringVar(&o.passwordFile, "password-file", "", "clients must give the password that is the first line of `FILE`; without it that of the variable "+passwordVariable+", if there is one")
	f.IntVar(&o.clients, "clients", resp.DefaultClients, "a node serves at most `N` clients at a time")
	f.DurationVar(&o.idle, "idle", 0, "hang up on clients that send or take nothing for a `TIME`, such as 5m; never if 0")
	f.IntVar(&o.bulk, "bulk", resp.DefaultBulk, "a client's string has at most `N` bytes")
	f.IntVar(&o.nodes, "nodes", 0, "start `N` nodes, processes of this machine that share the table, 1 if 0; in a run that something else has started, as many as that has, or not given")
	f.StringVar(&o.ssh, "ssh", "", command.Usage("ssh", ", and where this program and this folder have the same path"))
	f.IntVar(&o.join, "join", 0, command.Usage("join", ""))
	f.IntVar(&o.volumes, "volumes", 0, "the table has `N` volumes, 64 for each node if 0")
	f.IntVar(&o.memory, "memory", 4096, "the volumes of a node grow up to `N` MiB, all together")
	f.StringVar(&o.metrics, "metrics", "", command.Usage("metrics", ", such as 127.0.0.1:9470"))
	f.StringVar(&o.guard, "guard", "RMA-RW", "the `LOCK` of a volume: any of kind read-write that orwl locks shows")
}

// check complains about flags that are out of their range, for a process in that
// place.
func (o *serveFlags) check(place launch.Place) error {
	if err := o.parseHosts(place); err != nil {
		return err
	}
	nodes := max(1, place.Nodes, o.nodes)
	for _, problem := range []error{
		inRange("clients", o.clients, 1, resp.MostClients),
		inRange("bulk", o.bulk, resp.LeastBulk, resp.MostBulk),
		inRange("nodes", o.nodes, 0, mostServeNodes),
		inRange("join", o.join, 0, mostServeNodes),
		inRange("volumes", o.volumes, 0, mostVolumes),
		inRange("memory", o.memory, 1, mostMemory),
	} {
		if problem != nil {
			return problem
		}
	}
	if o.idle != 0 && o.idle < time.Millisecond {
		return command.Misusef("-idle is %v, want 0 or at least 1ms", o.idle)
	}
	if o.nodes != 0 && o.join != 0 {
		return command.Misusef("-nodes is %d, and -join is %d: want one of them", o.nodes, o.join)
	}
	if place.Nodes > 1 && o.nodes != 0 && o.nodes != place.Nodes {
		return command.Misusef("-nodes is %d, want %d, or no -nodes, since this is %v", o.nodes, place.Nodes, place)
	}
	if o.volumes == 0 {
		o.volumes = volumesOfNode * nodes
	}
	if most := o.volumeBytes(nodes); most < leastVolumeBytes || most > mostVolumeBytes {
		return command.Misusef("-memory is %d and -volumes %d, which gives a volume %d bytes, want %d to %d", o.memory, o.volumes, most, leastVolumeBytes, mostVolumeBytes)
	}
	return guardExists(o.guard)
}

// parseHosts reads the list of hosts. Each has a node unless -nodes says otherwise.
func (o *serveFlags) parseHosts(place launch.Place) (err error) {
	if o.ssh == "" {
		return nil
	}
	if place.Nodes > 1 && !place.How.BySpawn() {
		return command.Misusef("-ssh is %q, want none, since this is %v, which something else has started", o.ssh, place)
	}
	if o.hosts, err = launch.ParseHosts(o.ssh); err != nil {
		return command.Misusef("-ssh is %q: %w", o.ssh, err)
	}
	if o.nodes == 0 {
		o.nodes = len(o.hosts)
	}
	if o.nodes < len(o.hosts) {
		return command.Misusef("-nodes is %d, want at least %d, as many as -ssh names hosts", o.nodes, len(o.hosts))
	}
	return nil
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
	mostVolumeBytes  = 4 << 30
)

// volumeBytes is how large each volume may grow.
func (o *serveFlags) volumeBytes(nodes int) int { return o.memory * mebi * nodes / o.volumes &^ 15 }

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
