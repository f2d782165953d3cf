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

// Disk is a directory. The system has one, and tests that play crashes have another.
type Disk interface {
	Path(name string) string // for messages
	Make() error             // makes it if it is not there
	List() (names []string, err error)
	Open(name string) (from io.ReadCloser, size int64, err error)
	Create(name string) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	Sync() error // makes the names permanent

	// Lock takes a file for this process, until it ends or closes the lock. The error matches ErrInUse if another one has it.
	Lock(name string) (io.Closer, error)
}

// File is a file that is being written.
type File interface {
	io.Writer
	io.Closer
	Sync() error // makes the contents permanent
}

// ErrInUse is a folder that a process with the same number has open.
var ErrInUse = errors.New("folder: in use")

// Directory is a directory of the system.
func Directory(dir string) Disk { return directory(dir) }

type directory string

func (d directory) Path(name string) string { return filepath.Join(string(d), name) }

func (d directory) List() (names []string, err error) {
	files, err := os.ReadDir(string(d))
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names, err
}

func (d directory) Open(name string) (io.ReadCloser, int64, error) {
	f, err := os.Open(d.Path(name))
	if err != nil {
		return nil, 0, err // no interface with a nil file
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func (d directory) Create(name string) (File, error) {
	f, err := os.OpenFile(d.Path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d directory) Rename(from, to string) error { return os.Rename(d.Path(from), d.Path(to)) }

func (d directory) Remove(name string) error { return os.Remove(d.Path(name)) }

// Sync does nothing on Windows, where a directory cannot be synced: the file system has a journal of names.
func (d directory) Sync() error {
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

// Lock writes into the file which process has the lock, for the message of the next one that tries.
func (d directory) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(d.Path(name), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	switch err := tryLock(f); {
	case errors.Is(err, errLocked):
		holder, _ := io.ReadAll(io.LimitReader(f, mostHolder)) // it may not have written it yet
		return nil, errors.Join(fmt.Errorf("%w: %s belongs to another process (%s): wait until it has ended, or stop it, or name another folder",
			ErrInUse, d.Path(name), holder), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("%s: no lock on this file system, name another folder: %w", d.Path(name), err), f.Close())
	}
	host, _ := os.Hostname() // the number of the process says enough
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := fmt.Fprintf(f, "process %d on %s", os.Getpid(), host); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return locked{f}, nil
}

// locked is a file with a lock. Close ends the lock itself: a process that this one is about to start has a copy of the descriptor for
// a moment, and would keep the lock.
type locked struct{ *os.File }

func (l locked) Close() error { return errors.Join(endLock(l.File), l.File.Close()) }

// Make makes the directory, and those above it that are missing. Their names are permanent then.
func (d directory) Make() error {
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
		if err := directory(filepath.Dir(string(at))).Sync(); err != nil {
			return err
		}
	}
	return nil
}
