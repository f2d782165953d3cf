package command

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"time"
)

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
