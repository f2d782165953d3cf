package faultpage

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pageFile is an unnamed file in memory. A Memory and its views map it.
type pageFile int

// newPageFile makes a file of size bytes, all zero. A page takes no space before its
// first use.
func newPageFile(size int) (pageFile, error) {
	fd, err := unix.MemfdCreate("orwl resource", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // older than Linux 6.3
		fd, err = unix.MemfdCreate("orwl resource", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return 0, fmt.Errorf("faultpage: memfd_create: %w: each resource with fault pages takes one open file", err)
	}
	f := pageFile(fd)
	if err := f.resize(size); err != nil {
		f.close()
		return 0, err
	}
	return f, nil
}

func (f pageFile) resize(size int) error {
	for {
		err := unix.Ftruncate(int(f), int64(size))
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("faultpage: resizing to %d bytes: %w", size, err)
		}
	}
}

// mapPages maps the first n bytes of the file. The file may have fewer.
func (f pageFile) mapPages(n int, a Access) ([]byte, error) {
	at, err := unix.MmapPtr(int(f), 0, nil, uintptr(n), a.protection(), unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("faultpage: mapping %d bytes: %w: each view takes up to two mappings: raise vm.max_map_count", n, err)
	}
	return unsafe.Slice((*byte)(at), n), nil
}

func (f pageFile) close() error {
	if err := unix.Close(int(f)); err != nil {
		return fmt.Errorf("faultpage: closing the file: %w", err)
	}
	return nil
}

func protectPages(pages []byte, a Access) error {
	if err := unix.Mprotect(pages, a.protection()); err != nil {
		return fmt.Errorf("faultpage: opening or shutting %d bytes: %w: each view takes up to two mappings: raise vm.max_map_count", len(pages), err)
	}
	return nil
}

func unmapPages(pages []byte) error {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(pages)), uintptr(len(pages))); err != nil {
		return fmt.Errorf("faultpage: unmapping %d bytes: %w", len(pages), err)
	}
	return nil
}

// protection is a as mmap and mprotect take it.
func (a Access) protection() int {
	switch a {
	case Read:
		return unix.PROT_READ
	case Write:
		return unix.PROT_READ | unix.PROT_WRITE
	}
	return unix.PROT_NONE
}
