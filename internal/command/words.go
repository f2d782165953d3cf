package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
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
