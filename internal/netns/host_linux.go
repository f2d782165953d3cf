package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

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
