package outfile

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// Check fails if a file of that name cannot be written.
func Check(name string) error {
	f, err := Create(name)
	f.Drop()
	return err
}

// Write writes a file.
func Write(name string, write func(io.Writer) error) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	return f.Finish(write)
}

// File is a file that is being written. No file, nil, is written nowhere.
type File struct {
	name string
	file *os.File // nil once it is finished or dropped
}

// Create begins a file beside the one of that name.
func Create(name string) (*File, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return nil, err
	}
	return &File{name: name, file: file}, nil
}

// Finish writes the file and gives it its name.
func (f *File) Finish(write func(io.Writer) error) error {
	if f == nil {
		return nil
	}
	defer f.Drop()
	buffered := bufio.NewWriterSize(f.file, 1<<16)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	// A temporary file is the owner's alone; this one is as others are.
	if err := f.file.Chmod(0o644); err != nil {
		return err
	}
	// The file is on the disk before it has the name, also if the power goes.
	if err := f.file.Sync(); err != nil {
		return err
	}
	if err := f.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.file.Name(), f.name); err != nil {
		return err
	}
	f.file = nil
	return nil
}

// Drop forgets a file that was not finished.
func (f *File) Drop() {
	if f == nil || f.file == nil {
		return
	}
	// It may be closed, and whether it can be removed changes nothing.
	_ = f.file.Close()
	_ = os.Remove(f.file.Name())
	f.file = nil
}
