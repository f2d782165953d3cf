package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// disk is a directory. Tests play crashes with another one.
type disk interface {
	path(name string) string // for messages
	list() (names []string, err error)
	open(name string) (from io.ReadCloser, size int64, err error)
	create(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	sync() error // makes the names permanent

	// lock takes a file for this process, until it ends or closes the lock. The error matches ErrInUse if another one has it.
	lock(name string) (io.Closer, error)
}

// file is a file that is being written.
type file interface {
	io.Writer
	io.Closer
	Sync() error // makes the contents permanent
}

// ErrInUse is a folder that a process with the same number has open.
var ErrInUse = errors.New("folder: in use")

// directory is a disk of the system.
type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) list() (names []string, err error) {
	files, err := os.ReadDir(string(d))
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names, err
}

func (d directory) open(name string) (io.ReadCloser, int64, error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, 0, err // no interface with a nil file
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func (d directory) create(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d directory) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d directory) remove(name string) error { return os.Remove(d.path(name)) }

// sync does nothing on Windows, where a directory cannot be synced: the file system has a journal of names.
func (d directory) sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// mostHolder is how many bytes of a lock file we read.
const mostHolder = 200

// lock writes into the file which process has the lock, for the message of the next one that tries.
func (d directory) lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	switch err := tryLock(f); {
	case errors.Is(err, errLocked):
		holder, _ := io.ReadAll(io.LimitReader(f, mostHolder)) // it may not have written it yet
		return nil, errors.Join(fmt.Errorf("%w: %s belongs to another process (%s): wait until it has ended, or stop it, or name another folder",
			ErrInUse, d.path(name), holder), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("%s: no lock on this file system, name another folder: %w", d.path(name), err), f.Close())
	}
	host, _ := os.Hostname() // the number of the process says enough
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := fmt.Fprintf(f, "process %d on %s", os.Getpid(), host); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// make makes the directory, and those above it that are missing. Their names are permanent then.
func (d directory) make() error {
	var missing []directory // from the last one up
	for at := d; ; at = directory(filepath.Dir(string(at))) {
		if _, err := os.Stat(string(at)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	for _, at := range missing {
		if err := directory(filepath.Dir(string(at))).sync(); err != nil {
			return err
		}
	}
	return nil
}
