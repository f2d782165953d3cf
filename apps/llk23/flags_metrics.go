package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// addressFlag is a flag that says where to listen.
type addressFlag struct{ value *string }

func (f addressFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f addressFlag) Set(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("want host:port, such as 127.0.0.1:9464")
	}
	*f.value = text
	return nil
}

// timeFlag is a flag that is a time from 0 to most.
type timeFlag struct {
	value *time.Duration
	most  time.Duration
}

func (f timeFlag) String() string {
	if f.value == nil {
		return ""
	}
	return f.value.String()
}

// Range is for the help.
func (f timeFlag) Range() string { return fmt.Sprintf("0s to %v", f.most) }

func (f timeFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > f.most {
		return fmt.Errorf("want a time from 0s to %v, such as 15s", f.most)
	}
	*f.value = d
	return nil
}
