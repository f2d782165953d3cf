package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Network is some hosts that all reach each other.
type Network struct {
	hosts []*host
	ways  [][]*way // from, to
	group sync.WaitGroup
}

// New makes a network of so many hosts, up to 250. It ends with the test.
func New(t testing.TB, hosts int) *Network {
	t.Helper()
	n := new(Network)
	t.Cleanup(n.close)
	for i := range hosts {
		h, err := newHost(address(i))
		if errors.Is(err, syscall.EPERM) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			t.Skipf("no network of several hosts can be made here: %v: run as root, with /dev/net/tun and the programs ip and nsenter", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		n.hosts = append(n.hosts, h)
	}
	for from := range hosts {
		n.ways = append(n.ways, nil)
		for to := range hosts {
			n.ways[from] = append(n.ways[from], newWay(n.hosts[to].tun, uint64(from*hosts+to)))
		}
	}
	for from, h := range n.hosts {
		n.group.Go(func() { n.carry(from, h) })
		for _, w := range n.ways[from] {
			n.group.Go(w.deliver)
		}
	}
	return n
}

func address(host int) string { return fmt.Sprint("10.77.0.", host+1) }

// Address is the IP address of a host.
func (n *Network) Address(host int) string { return address(host) }

// Command is a command that runs on a host. Its process is the command's own, which can be
// signalled.
func (n *Network) Command(host int, name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=" + n.hosts[host].path(), "--", name}, args...)...)
}

// Way sets what becomes of the packets from one host to another.
func (n *Network) Way(from, to int, q Quality) { n.ways[from][to].set(q) }

// Both sets what becomes of the packets between two hosts.
func (n *Network) Both(a, b int, q Quality) {
	n.Way(a, b, q)
	n.Way(b, a, q)
}

// All sets what becomes of the packets between any two hosts.
func (n *Network) All(q Quality) {
	for from := range n.ways {
		for to := range n.ways {
			n.Way(from, to, q)
		}
	}
}

// carry takes the packets of a host to the hosts that they are for.
func (n *Network) carry(from int, h *host) {
	packet := make([]byte, 1<<16)
	for {
		size, err := h.tun.Read(packet)
		if err != nil {
			return
		}
		if to, ok := n.destination(packet[:size]); ok {
			n.ways[from][to].take(packet[:size])
		}
	}
}

// destination is which host an IPv4 packet is for.
func (n *Network) destination(packet []byte) (host int, ok bool) {
	const version, to, header = 0, 16, 20
	if len(packet) < header || packet[version]>>4 != 4 {
		return 0, false
	}
	host = int(packet[to+3]) - 1
	return host, host >= 0 && host < len(n.hosts)
}

func (n *Network) close() {
	for _, h := range n.hosts {
		h.close()
	}
	for _, ways := range n.ways {
		for _, w := range ways {
			w.close()
		}
	}
	n.group.Wait()
}

// run runs a program in the namespace of the calling thread.
func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("netns: %s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// path is where other processes find the namespace.
func (h *host) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), h.namespace.Fd()) }
