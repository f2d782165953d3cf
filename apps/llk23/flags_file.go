package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/orwl/launch"
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
	switch {
	case text == initSmooth:
		text = initNoise
	case text != initHills && text != initNoise && text != initLFK && !named(text, ".npy"):
		return errors.New("want hills, noise, lfk, or the name of a .npy file")
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

// hostsFlag is a flag that lists hosts.
type hostsFlag struct{ value *string }

func (f hostsFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f hostsFlag) Set(text string) error {
	_, err := launch.ParseHosts(text)
	*f.value = text
	return err
}

// hosts are those that -ssh lists, or nil.
func (o options) hosts() []string {
	hosts, _ := launch.ParseHosts(o.ssh) // was read before, or is empty
	return hosts
}

func named(text, suffix string) bool {
	return strings.HasSuffix(text, suffix) && len(text) > len(suffix)
}
