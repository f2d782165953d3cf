package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// output is a file that appears under its name when it is complete. It is created before the
// work begins, so that a path that cannot be written fails at once.
type output struct {
	name string
	file *os.File // nil once it is finished or dropped
}

func newOutput(name string) (*output, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".llk23-*")
	if err != nil {
		return nil, err
	}
	return &output{name: name, file: f}, nil
}

// finish writes the file and gives it its name. There is nothing to do for no
// output.
func (o *output) finish(write func(io.Writer) error) error {
	if o == nil {
		return nil
	}
	defer o.drop()
	buffered := bufio.NewWriterSize(o.file, 1<<16)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	// A temporary file is the owner's alone; this one is as others are.
	if err := o.file.Chmod(0o644); err != nil {
		return err
	}
	// What has the name is on the disk, also if the power goes.
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(o.file.Name(), o.name); err != nil {
		return err
	}
	o.file = nil
	return nil
}

// drop forgets a file that was not finished.
func (o *output) drop() {
	if o == nil || o.file == nil {
		return
	}
	// It may be closed, and whether it can be removed changes nothing.
	_ = o.file.Close()
	_ = os.Remove(o.file.Name())
	o.file = nil
}
