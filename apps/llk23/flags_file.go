package main

import (
	"errors"
	"fmt"
	"strings"
)

// initFlag is a flag that says where the initial values come from.
type initFlag struct{ value *string }

func (f initFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f initFlag) Set(text string) error {
	if text != initSmooth && text != initLFK && !named(text, ".npy") {
		return errors.New("want smooth, lfk, or the name of a .npy file")
	}
	*f.value = text
	return nil
}

// fileFlag is a flag that names a file, which tells by its name what it is.
type fileFlag struct {
	value  *string
	suffix string
}

func (f fileFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f fileFlag) Set(text string) error {
	if !named(text, f.suffix) {
		return fmt.Errorf("want the name of a %s file", f.suffix)
	}
	*f.value = text
	return nil
}

func named(text, suffix string) bool {
	return strings.HasSuffix(text, suffix) && len(text) > len(suffix)
}
