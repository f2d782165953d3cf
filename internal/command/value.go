package command

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/orwl/launch"
)

// value is a flag whose text a function reads.
type value[T any] struct {
	to   *T
	read func(text string) (T, error)
}

func (v value[T]) String() string {
	if v.to == nil {
		return ""
	}
	return fmt.Sprint(*v.to)
}

func (v value[T]) Set(text string) error {
	got, err := v.read(text)
	if err == nil {
		*v.to = got
	}
	return err
}

// ranged says in the help what it may be.
type ranged struct {
	flag.Value
	within string
}

func (r ranged) Range() string { return r.within }

// Value is a flag whose text read reads. within is what it may be, for the help, or empty.
func Value[T any](to *T, within string, read func(text string) (T, error)) flag.Value {
	v := value[T]{to, read}
	if within == "" {
		return v
	}
	return ranged{v, within}
}

// Whole is a flag that is a whole number from least to most.
func Whole(to *int, least, most int) flag.Value {
	within := fmt.Sprintf("%d to %d", least, most)
	return Value(to, within, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, errors.New("want a whole number from " + within)
		}
		return n, nil
	})
}

// Count is a flag that is a whole number from 1 to most.
func Count(to *int, most int) flag.Value { return Whole(to, 1, most) }

// Choice is a flag that is one of a few words.
func Choice[T ~string](to *T, allowed ...T) flag.Value {
	var words []string
	for _, a := range allowed {
		words = append(words, string(a))
	}
	within := strings.Join(words, " or ")
	return Value(to, within, func(text string) (T, error) {
		if !slices.Contains(allowed, T(text)) {
			return "", errors.New("want " + within)
		}
		return T(text), nil
	})
}

// Time is a flag that is a time from 0 to most.
func Time(to *time.Duration, most time.Duration) flag.Value {
	within := fmt.Sprintf("0s to %v", most)
	return Value(to, within, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > most {
			return 0, fmt.Errorf("want a time from %s, such as 15s", within)
		}
		return d, nil
	})
}

// Switch is a flag that is true or false, and true without a value.
func Switch(to *bool) flag.Value {
	return toggle{Value(to, "", func(text string) (bool, error) {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return false, errors.New("want true or false")
		}
		return on, nil
	})}
}

type toggle struct{ flag.Value }

func (toggle) IsBoolFlag() bool { return true }

// File is a flag that names a file, whose name ends in one of some ways.
func File(to *string, endings ...string) flag.Value {
	return Value(to, "", func(text string) (string, error) {
		if !Named(text, endings...) {
			return "", fmt.Errorf("want the name of a %s file", strings.Join(endings, " or "))
		}
		return text, nil
	})
}

// Named says that a file has a name with one of some endings.
func Named(file string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(file, e) && len(file) > len(e) })
}

// Address is a flag that says where to listen.
func Address(to *string) flag.Value {
	return Value(to, "", func(text string) (string, error) {
		_, port, err := net.SplitHostPort(text)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return "", errors.New("want host:port, such as 127.0.0.1:9464")
		}
		return text, nil
	})
}

// Hosts is a flag that lists hosts.
func Hosts(to *string) flag.Value {
	return Value(to, "", func(text string) (string, error) {
		_, err := launch.ParseHosts(text)
		return text, err
	})
}
