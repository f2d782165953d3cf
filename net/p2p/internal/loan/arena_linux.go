package loan

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	arenaName = "orwl arena"
	// seals fix the size of the file. So no process can take away pages that others
	// have mapped.
	seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
)

// arenaFile is the file of an arena, mapped.
type arenaFile struct {
	bytes []byte
	used  *used
	fd    atomic.Int64 // -1 when it is closed
	Offer Offer
	Bell  *Bell // nil if there is none
}

// used is how much of the addresses was ever in use.
type used struct{ top atomic.Int64 }

// newArena makes the arena of a node, in a run of so many.
func newArena(nodes, size int) (*Arena, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil && limit.Cur < uint64(size) {
		return nil, fmt.Errorf("files are limited to %d bytes", limit.Cur) // writing more would end the process
	}
	fd, err := newFile(size)
	if err != nil {
		return nil, err
	}
	mapped, err := mapShared(fd, size, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	a := new(Arena)
	a.bytes, a.used = mapped, new(used)
	a.fd.Store(int64(fd))
	a.books(nodes, os.Getpagesize())
	a.reached(int64(a.head))
	rand.Read(a.bytes[:tokenSize])
	a.Offer = Offer{PID: uint64(os.Getpid()), FD: uint64(fd), Token: bytes.Clone(a.bytes[:tokenSize])}
	if a.Bell, err = newBell(); err == nil {
		a.Offer.Bell = uint64(a.Bell.rings)
	}
	runtime.AddCleanup(a, func(u *used) { abandon(mapped, u) }, a.used)
	return a, nil
}

// newFile makes a file of zero bytes that take no space.
func newFile(size int) (fd int, err error) {
	fd, err = unix.MemfdCreate(arenaName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // older than Linux 6.3
		fd, err = unix.MemfdCreate(arenaName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return 0, fmt.Errorf("memfd_create: %w", err)
	}
	err = unix.Ftruncate(fd, int64(size))
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("a file of %d bytes: %w", size, err)
	}
	return fd, nil
}

// reached notes that so many bytes from the beginning are in use. The arena calls it
// with its lock held.
func (f *arenaFile) reached(top int64) { f.used.top.Store(max(top, f.used.top.Load())) }

// punch zeroes whole pages and gives them back to the system.
func (f *arenaFile) punch(pages []byte) {
	if unix.Madvise(pages, unix.MADV_REMOVE) != nil {
		clear(pages)
	}
}

// Close ends that other nodes can map the arena. The memory stays as long as this node can
// reach it.
func (f *arenaFile) Close() {
	if fd := f.fd.Swap(-1); fd >= 0 {
		unix.Close(int(fd))
		if f.Bell != nil {
			unix.Close(f.Bell.rings) // only now: who maps the arena must not find another pipe in its place
		}
	}
}

// abandon gives the memory back, when the arena cannot be reached any more. A slice
// that was kept for longer reads zeroes of its own, and does not meet whatever
// would be mapped there next.
func abandon(mapped []byte, u *used) {
	at, size, top := unsafe.Pointer(unsafe.SliceData(mapped)), uintptr(len(mapped)), uintptr(u.top.Load())
	// If the system refuses, it stays until the process ends.
	_, _ = unix.MmapPtr(-1, 0, at, top, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE|unix.MAP_FIXED)
	_ = unix.MunmapPtr(unsafe.Add(at, top), size-top)
}

// Map maps the arena that another node of this machine has offered to this one, to read.
func Map(o Offer, nodes, me int) (*Mapping, error) {
	of, err := openProcess(o.PID) // first: the token proves that it is the node's
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoArena, err)
	}
	bell := openBell(o)
	b, err := o.mapped(headSize(nodes, os.Getpagesize()))
	if err != nil {
		of.Close()
		closeBell(bell)
		return nil, err
	}
	return newMapping(b, of, bell, nodes, me), nil
}

// mapped finds the file, checks it and maps it.
func (o *Offer) mapped(least int) ([]byte, error) {
	fd, err := o.find()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	size, err := checkFile(fd, o.Token, least)
	if err != nil {
		return nil, err
	}
	return mapShared(fd, size, unix.PROT_READ)
}

// find opens the file.
func (o *Offer) find() (fd int, err error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", o.PID, o.FD)
	// Where processes are numbered differently that may be anything.
	if what, err := os.Readlink(path); err != nil || !strings.HasPrefix(what, "/memfd:"+arenaName) {
		return 0, fmt.Errorf("%w: %s is %q, %v", errNoArena, path, what, err)
	}
	if fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", errNoArena, path, err)
	}
	return fd, nil
}

// mapShared maps a file, for as long as unmap is not called.
func mapShared(fd, size, protection int) ([]byte, error) {
	at, err := unix.MmapPtr(fd, 0, nil, uintptr(size), protection, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return unsafe.Slice((*byte)(at), size), nil
}

// checkFile is the size of a file, if it is the one that has the token, and is not
// smaller than least.
func checkFile(fd int, token []byte, least int) (int, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return 0, fmt.Errorf("%w: %w", errNoArena, err)
	}
	if stat.Size < int64(least) || stat.Size > 1<<46 || stat.Size > int64(maxInt) {
		return 0, fmt.Errorf("%w: it has %d bytes", errNoArena, stat.Size)
	}
	if have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); err != nil || have&seals != seals {
		return 0, fmt.Errorf("%w: its size could change", errNoArena)
	}
	found := make([]byte, tokenSize)
	if n, err := unix.Pread(fd, found, 0); err != nil || n < tokenSize || !bytes.Equal(found, token) {
		return 0, fmt.Errorf("%w: it has another token", errNoArena)
	}
	return int(stat.Size), nil
}

// unmap gives the addresses of a mapping back.
func unmap(b []byte) { _ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))) }
