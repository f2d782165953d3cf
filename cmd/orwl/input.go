package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// input opens a file that a command reads, and refuses a folder. The error says what the file should be.
func input(name, want string) (*os.File, error) {
	file, err := os.Open(name)
	if err == nil {
		info, bad := file.Stat()
		if err = bad; bad == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			file.Close()
		}
	}
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err // the name is said already
	}
	if err != nil {
		return nil, fmt.Errorf("%w: want %s", err, want)
	}
	return file, nil
}
