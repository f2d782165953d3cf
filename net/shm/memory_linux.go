package shm

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seals keep every process from changing the size of the file: memory that all
// have mapped cannot be pulled away from under them.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// memory is the fabric's file, mapped into this process.
type memory struct {
	bytes []byte
	file  *os.File // a description of its own, see locks
}

// newFile makes a file of size zero bytes that take no space.
func newFile(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("orwl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // older than Linux 6.3
		fd, err = unix.MemfdCreate("orwl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("shm: memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "orwl fabric")
	if err := file.Truncate(size); err != nil {
		file.Close()
		return nil, fmt.Errorf("shm: a file of %d bytes: %w: lower Options.Words or Options.DynamicWords, or raise the limit on the size of files", size, err)
	}
	if err := seal(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func seal(file *os.File) error {
	_, err := fcntl(file, unix.F_ADD_SEALS, seals)
	if err != nil {
		return fmt.Errorf("shm: sealing the fabric's file: %w", err)
	}
	return nil
}

// sealed reports whether the size of a file can change no more.
func sealed(file *os.File) bool {
	have, err := fcntl(file, unix.F_GET_SEALS, 0)
	return err == nil && have&(unix.F_SEAL_SHRINK|unix.F_SEAL_GROW) == unix.F_SEAL_SHRINK|unix.F_SEAL_GROW
}

// reopen opens the file again. So this process has a description of it that no other
// process shares.
func reopen(file *os.File) (*os.File, error) {
	var own *os.File
	err := control(file, func(fd int) (err error) {
		own, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shm: opening the fabric's file again: %w: it has to be writable, and /proc mounted", err)
	}
	return own, nil
}

// mapMemory maps size bytes of the file. When the fabric is closed and its windows can
// be reached no more, the memory goes back to the system.
//
// unsafe: it makes a slice of the address that the system chose.
func mapMemory(file *os.File, size int64) (*memory, error) {
	var at unsafe.Pointer
	err := control(file, func(fd int) (err error) {
		at, err = unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shm: mapping %d bytes: %w: lower Options.Words or Options.DynamicWords, or raise the limit on address space", size, err)
	}
	m := &memory{bytes: unsafe.Slice((*byte)(at), size), file: file}
	runtime.AddCleanup(m, abandon, m.bytes)
	return m, nil
}

// abandon gives the memory back but keeps its addresses: private zeroes take its place.
// An operation that a closing fabric overtook, or a slice that was kept from Attach or
// Direct, then reads zeroes. Otherwise it would fault, or meet the next mapping.
//
// unsafe: it maps zeroes at the address of the memory.
func abandon(bytes []byte) {
	at := unsafe.Pointer(unsafe.SliceData(bytes))
	// If the system refuses, the memory stays until the process ends.
	_, _ = unix.MmapPtr(-1, 0, at, uintptr(len(bytes)), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE|unix.MAP_FIXED)
}

// punch zeroes words of the memory and gives their pages back to the system.
//
// unsafe: it computes where the words are in the file.
func (m *memory) punch(words []uint64) error {
	offset := int64(uintptr(unsafe.Pointer(&words[0])) - uintptr(unsafe.Pointer(&m.bytes[0])))
	return control(m.file, func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, 8*int64(len(words)))
	})
}

// view is the T that lies at offset, views the n of them.
//
// unsafe: it views mapped bytes as a T. Every T here is valid when zeroed, and all
// offsets are multiples of 8.
func view[T any](m *memory, offset int64) *T { return &views[T](m, offset, 1)[0] }

func views[T any](m *memory, offset int64, n int) []T {
	var one T
	bytes := m.bytes[offset : offset+int64(n)*int64(unsafe.Sizeof(one))]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// control runs do with the file's descriptor, which stays open meanwhile.
func control(file *os.File, do func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := raw.Control(func(fd uintptr) { failure = do(int(fd)) }); err != nil {
		return err
	}
	return failure
}

func fcntl(file *os.File, command, argument int) (result int, err error) {
	err = control(file, func(fd int) error {
		result, err = unix.FcntlInt(uintptr(fd), command, argument)
		return err
	})
	return result, err
}
