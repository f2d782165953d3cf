package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"regexp"
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

// The messages of package flag that are said in other words.
var (
	noSuchFlag = regexp.MustCompile(`^flag provided but not defined: -(.*)$`)
	wantsValue = regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-?([^:]+): (want .*|that .*)$`)
	noArgument = regexp.MustCompile(`^flag needs an argument: -(.*)$`)
	badValue   = regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-?([^:]+): (?:parse error|strconv.*|value out of range)$`)
)

// mostNamed is how many flags an error lists.
const mostNamed = 8

// InOurWords is an error of a flag set, as a person says it: which flag, and what it wants.
func InOurWords(f *flag.FlagSet, err error) error {
	if m := noSuchFlag.FindStringSubmatch(err.Error()); m != nil {
		var names []string
		f.VisitAll(func(one *flag.Flag) {
			if _, old := isOld(one); !old {
				names = append(names, one.Name)
			}
		})
		names = dashed(names)
		advice := didYouMean(m[1], names)
		if advice == "" && len(names) > 0 && len(names) <= mostNamed {
			advice = ": want " + choice(names)
		}
		return fmt.Errorf("no flag -%s%s", m[1], advice)
	}
	if m := wantsValue.FindStringSubmatch(err.Error()); m != nil {
		if strings.HasPrefix(m[3], "want") {
			return fmt.Errorf("-%s is %q, %s", m[2], m[1], m[3])
		}
		return fmt.Errorf("-%s is %q: %s", m[2], m[1], m[3])
	}
	if m := noArgument.FindStringSubmatch(err.Error()); m != nil {
		if one := f.Lookup(m[1]); one != nil {
			value, _ := flag.UnquoteUsage(one)
			return fmt.Errorf("-%s needs a value: -%s %s", m[1], m[1], value)
		}
	}
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		if one := f.Lookup(m[2]); one != nil {
			return fmt.Errorf("-%s is %q, want %s", m[2], m[1], wanted(one))
		}
	}
	return err
}

func dashed(names []string) []string {
	for i := range names {
		names[i] = "-" + names[i]
	}
	return names
}

// wanted is what the value of a flag looks like.
func wanted(f *flag.Flag) string {
	var value any
	if g, is := f.Value.(flag.Getter); is {
		value = g.Get()
	}
	switch value.(type) {
	case time.Duration:
		return "a time with its unit, such as 300ms, 5s or 2m"
	case bool:
		return "true or false"
	case int, int64:
		return "a whole number"
	case uint, uint64:
		return "a whole number that is not negative"
	case float64:
		return "a number"
	}
	return "another value"
}

// ErrInterrupted is Ctrl-C. Shells have the same exit code.
var ErrInterrupted = &ExitError{Interrupted, errors.New("interrupted")}

// didYouMean is ", did you mean X?" if one of the words is nearly what was given, or nothing.
func didYouMean(given string, words []string) string {
	best, least := "", 3 // more slips than two make another word
	for _, w := range words {
		if d := distance(strings.TrimLeft(given, "-"), strings.TrimLeft(w, "-")); d < least && d < len(w)-1 {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// Nearest are the n words that take the fewest slips to what was given, the nearest first. Case and hyphens count as none.
func Nearest(given string, words []string, n int) []string {
	plain := func(word string) string { return strings.ReplaceAll(strings.ToLower(word), "-", "") }
	all := slices.Clone(words)
	slices.SortStableFunc(all, func(a, b string) int {
		return cmp.Compare(distance(plain(given), plain(a)), distance(plain(given), plain(b)))
	})
	return all[:min(n, len(all))]
}

// distance is how many slips turn one word into the other: a letter more, less, another one, or
// two in the wrong order.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			other := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				other++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
