package stencil

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is a directory of checkpoints. Tests record what is done to it, and play crashes.
type disk interface {
	list() (names []string, err error)
	create(name string) (diskFile, error)
	rename(from, to string) error
	remove(name string) error
	sync() error // makes the names permanent
}

// diskFile is a file that is being written.
type diskFile interface {
	io.WriterAt
	io.Closer
	Sync() error // makes the contents permanent
}

// folder is a directory.
type folder string

func (d folder) path(name string) string { return filepath.Join(string(d), name) }

func (d folder) create(name string) (diskFile, error) {
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err // no interface with a nil file
	}
	return f, nil
}

func (d folder) list() (names []string, err error) {
	files, err := os.ReadDir(string(d))
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names, err
}

func (d folder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d folder) remove(name string) error { return os.Remove(d.path(name)) }

func (d folder) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// make makes the directory, and those above it that are missing. Their names are permanent then.
func (d folder) make() error {
	var missing []folder // from the last one up
	for at := d; ; at = folder(filepath.Dir(string(at))) {
		if _, err := os.Stat(string(at)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	for _, at := range missing {
		if err := folder(filepath.Dir(string(at))).sync(); err != nil {
			return err
		}
	}
	return nil
}
