package netns

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// host is a network namespace, and the outer end of its interface.
type host struct {
	namespace *os.File
	tun       *os.File
}

// mtu is the size of a packet. Large ones cost a test less.
const mtu = "9000"

// newHost makes a host with an address.
func newHost(address string) (*host, error) {
	type made struct {
		*host
		error
	}
	result := make(chan made)
	go func() {
		h, err := apart(func() (*host, error) { return settle(address) })
		result <- made{h, err}
	}()
	m := <-result
	return m.host, m.error
}

// apart calls f on a thread that no other goroutine uses, and that may change its namespace.
// The thread lives on: the kernel ends the children of a thread that ends, if they ask for
// that by Pdeathsig.
func apart(f func() (*host, error)) (*host, error) {
	runtime.LockOSThread()
	before, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("netns: %w", err)
	}
	defer before.Close()
	h, err := f()
	if back := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); back != nil {
		return h, errors.Join(err, fmt.Errorf("netns: back from a namespace: %w", back)) // the thread ends
	}
	runtime.UnlockOSThread()
	return h, err
}

// settle makes the calling thread one of a new host.
func settle(address string) (h *host, err error) {
	if _, err := exec.LookPath("nsenter"); err != nil {
		return nil, fmt.Errorf("netns: %w", err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("netns: unshare: %w", err)
	}
	h = new(host)
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if h.namespace, err = os.Open("/proc/thread-self/ns/net"); err != nil {
		return nil, fmt.Errorf("netns: %w", err)
	}
	if h.tun, err = tun("net0"); err != nil {
		return nil, err
	}
	return h, errors.Join(
		run("ip", "link", "set", "lo", "up"),
		run("ip", "address", "add", address+"/24", "dev", "net0"),
		run("ip", "link", "set", "net0", "mtu", mtu, "up"))
}

// tun makes an interface in the namespace of the calling thread. Its packets are read from
// the file and written to it.
func tun(name string) (*os.File, error) {
	const device = "/dev/net/tun"
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: device, Err: err}
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("netns: interface %s: %w", name, err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), device), nil
}

func (h *host) close() {
	for _, f := range []*os.File{h.tun, h.namespace} {
		if f != nil {
			_ = f.Close() // nothing is buffered
		}
	}
}

// Quality is what becomes of the packets on their way. The zero value delivers all at once.
type Quality struct {
	// Cut drops all packets.
	Cut bool
	// Loss is which share of the packets is dropped, from 0 to 1.
	Loss float64
	// Delay is how long each packet takes, and Jitter by how much longer, at most. No
	// packet overtakes another one.
	Delay, Jitter time.Duration
}

// way leads from one host to another.
type way struct {
	to io.Writer

	mu      sync.Mutex
	quality Quality
	chance  *rand.Rand
	last    time.Time     // when the last packet is due
	queue   []packet      // the packets that are on their way
	arrives chan struct{} // tells deliver that the queue is not empty
	over    chan struct{}
}

// packet is due at some time.
type packet struct {
	bytes []byte
	due   time.Time
}

// mostQueued is how many packets may be on their way. A router would drop those beyond it.
const mostQueued = 4096

func newWay(to io.Writer, seed uint64) *way {
	return &way{to: to, chance: rand.New(rand.NewPCG(seed, 0)), arrives: make(chan struct{}, 1), over: make(chan struct{})}
}

func (w *way) set(q Quality) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quality = q
}

// take drops a packet, or sees to it that it is delivered.
func (w *way) take(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := &w.quality
	if q.Cut || w.chance.Float64() < q.Loss || len(w.queue) == mostQueued {
		return
	}
	if q.Delay == 0 && q.Jitter == 0 && len(w.queue) == 0 {
		w.write(b)
		return
	}
	due := time.Now().Add(q.Delay + time.Duration(w.chance.Int64N(int64(q.Jitter)+1)))
	if due.Before(w.last) {
		due = w.last
	}
	w.last = due
	w.queue = append(w.queue, packet{bytes.Clone(b), due})
	select {
	case w.arrives <- struct{}{}:
	default:
	}
}

// write gives a packet to the host. A host that is closed takes none.
func (w *way) write(b []byte) { _, _ = w.to.Write(b) }

// deliver delivers packets when they are due, until the way is closed. A packet stays in
// the queue until it is delivered, so none overtakes it.
func (w *way) deliver() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.over:
			return
		case <-w.arrives:
		case <-timer.C:
		}
		if next, any := w.flush(time.Now()); any {
			timer.Reset(next)
		}
	}
}

// flush delivers what is due, and tells after which time to come again.
func (w *way) flush(now time.Time) (next time.Duration, any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, p := range w.queue {
		if wait := p.due.Sub(now); wait > 0 {
			w.queue = w.queue[i:]
			return wait, true
		}
		w.write(p.bytes)
	}
	w.queue = nil
	return 0, false
}

func (w *way) close() { close(w.over) }
