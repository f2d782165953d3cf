package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Failure is a run that broke a promise.
type Failure struct {
	// Err is what went wrong: a rank's own error, ErrDeadlock, ErrEndless.
	Err error
	// Command repeats the run, if the system has a Command; otherwise it is
	// only the flag.
	Command string
	// Seed is the seed of a seeded run.
	Seed uint64
	// Trace is every step of the run.
	Trace Trace
}

func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", f.Err)
	if f.Command != "" {
		fmt.Fprintf(&b, "again: %s\n", f.Command)
	}
	if len(f.Trace) > 0 {
		fmt.Fprintf(&b, "the run, step by step:\n%s", f.Trace.short())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unwrap makes errors.Is and errors.As see the reason.
func (f *Failure) Unwrap() error { return f.Err }

// failure runs the system again for its trace.
func (s System) failure(err error, flag, value string, again func() *explorer) *Failure {
	f := &Failure{Err: err, Command: strings.TrimSpace(s.Command + " " + flag + " " + value)}
	if x := again(); x.tracer != nil {
		f.Trace = x.tracer.trace
	}
	return f
}

func formatSeed(seed uint64) string { return strconv.FormatUint(seed, 10) }

// A schedule is printed as one letter or digit for each choice, in base 36; a
// choice beyond that stands in brackets.
func formatSchedule(schedule []uint16) string {
	var b strings.Builder
	for _, at := range schedule {
		if at < 36 {
			b.WriteString(strconv.FormatUint(uint64(at), 36))
		} else {
			fmt.Fprintf(&b, "[%d]", at)
		}
	}
	return b.String()
}

func parseSchedule(text string) ([]uint16, error) {
	var schedule []uint16
	for i := 0; i < len(text); i++ {
		digits, base := text[i:i+1], 36
		if text[i] == '[' {
			end := strings.IndexByte(text[i:], ']')
			if end < 0 {
				return nil, fmt.Errorf("character %d: '[' without ']'", i+1)
			}
			digits, base = text[i+1:i+end], 10
			i += end
		}
		at, err := strconv.ParseUint(digits, base, 16)
		if err != nil {
			return nil, fmt.Errorf("character %d: %q is no choice: want 0-9, a-z or a number in brackets", i+1, digits)
		}
		schedule = append(schedule, uint16(at))
	}
	return schedule, nil
}
