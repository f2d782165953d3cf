package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
)

// Failure is a run that broke a promise.
type Failure struct {
	// Err is the broken promise: a rank's own error, ErrDeadlock or ErrEndless.
	Err error
	// Command repeats the run. If the system has no Command, it is only the flag.
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
		fmt.Fprintf(&b, "steps of the run:\n%s", f.Trace.short())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unwrap lets errors.Is and errors.As see Err.
func (f *Failure) Unwrap() error { return f.Err }

// failure makes a Failure of err. It runs the system again for the trace.
func (s System) failure(err error, flag, value string, again func() *explorer) *Failure {
	f := &Failure{Err: err, Command: strings.TrimSpace(s.Command + " " + flag + " " + value)}
	if x := again(); x.tracer != nil {
		f.Trace = x.tracer.trace
	}
	return f
}

func formatSeed(seed uint64) string { return strconv.FormatUint(seed, 10) }

// formatSchedule prints one letter or digit for each choice, in base 36. A choice
// of 36 or more stands in brackets.
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

// The ways in which a run breaks its promise, in addition to a rank's own error.
var (
	// ErrDeadlock is a run in which some ranks wait and none can go on.
	ErrDeadlock = errors.New("sim: no rank can go on")
	// ErrEndless is a run of more than System.MaxSteps steps, or one in which ranks
	// only pause and look again.
	ErrEndless = errors.New("sim: the run does not end")
)

// violated is the first broken promise of a rank, or nil.
func (x *explorer) violated() error {
	for _, r := range x.ranks {
		if err := r.violation(); err != nil {
			return err
		}
	}
	return nil
}

// conclude judges a run in which nothing more can happen.
func (x *explorer) conclude() error {
	for _, r := range x.ranks {
		if r.phase == blocked {
			return fmt.Errorf("%w: %s", ErrDeadlock, x.whoWaits())
		}
	}
	if x.program.Check != nil && len(x.lost)+len(x.faults.alone) == 0 {
		return x.program.Check()
	}
	return nil
}

// whoWaits says in which operation each blocked rank waits.
func (x *explorer) whoWaits() string {
	text := ""
	for _, r := range x.ranks {
		if r.phase == blocked {
			if text != "" {
				text += "; "
			}
			text += fmt.Sprintf("rank %d in %s", r.id, x.describe(&r.request))
		}
	}
	return text
}

func (x *explorer) describe(q *request) string {
	switch q.kind {
	case opAwait:
		return fmt.Sprintf("Await(rank %d %s %s), which is %s", q.target, x.labels.name(q.disp), q.until,
			word(x.memory.load(q.target, q.disp)))
	case opFlush:
		return fmt.Sprintf("Flush(rank %d)", q.target)
	case opFlushAll, opPause:
		return q.kind.String()
	}
	return fmt.Sprintf("%s(rank %d %s)", q.kind, q.target, x.labels.name(q.disp))
}

// labels are the names of symmetric words.
type labels []label

type label struct {
	disp  rma.Disp
	words int
	name  string
}

func (l *labels) add(disp rma.Disp, words int, name string) {
	*l = append(*l, label{disp, words, name})
}

// name is the name of a word in a trace.
func (l labels) name(disp rma.Disp) string {
	for _, a := range l {
		if off := disp - a.disp; off >= 0 && int(off) < a.words {
			if a.words == 1 {
				return a.name
			}
			return fmt.Sprintf("%s[%d]", a.name, off)
		}
	}
	return fmt.Sprintf("word %s", disp)
}

// Trace lists the steps of one run, for people to read.
type Trace []Step

// Step is one line of a trace.
type Step struct {
	Number int      // counts scheduled steps; events between two steps share a number
	Rank   rma.Rank // the rank that acts, or whose operation arrives
	What   string   // the operation or the event
	Where  string   // target and word
	Value  string   // operands and result
}

func (t Trace) String() string {
	var b strings.Builder
	for _, s := range t {
		line := fmt.Sprintf("%5d  rank %-3d %-14s %-22s %s", s.Number, s.Rank, s.What, s.Where, s.Value)
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// The lines that a failure prints of a long trace. An endless run repeats the same
// lines again and again.
const (
	traceHead = 200
	traceTail = 40
)

// short is the trace as text, without its middle if it is long.
func (t Trace) short() string {
	left := len(t) - traceHead - traceTail
	if left <= 0 {
		return t.String()
	}
	return fmt.Sprintf("%s       ... %d lines ...\n%s", t[:traceHead], left, t[len(t)-traceTail:])
}

// tracer records a trace. A nil tracer records nothing.
type tracer struct {
	fabric *Fabric
	trace  Trace
}

func (t *tracer) note(r *rank, what, value string) {
	if t != nil {
		t.trace = append(t.trace, Step{Number: t.fabric.steps, Rank: r.id, What: what, Value: value})
	}
}

// operation records the request q of rank r. what names it in the trace.
func (t *tracer) operation(r *rank, what string, q *request, result uint64) {
	if t == nil {
		return
	}
	s := Step{Number: t.fabric.steps, Rank: r.id, What: what,
		Where: fmt.Sprintf("rank %d %s", q.target, t.fabric.labels.name(q.disp))}
	switch q.kind {
	case opPut, opStore:
		s.Value = fmt.Sprintf("<- %s", word(q.operand))
	case opAccumulate:
		s.Value = fmt.Sprintf("%s %s", q.op, word(q.operand))
	case opPutBytes:
		s.Value = fmt.Sprintf("<- %d words", len(q.words))
	case opGet, opLoad:
		s.Value = fmt.Sprintf("-> %s", word(result))
	case opGetBytes:
		s.Value = fmt.Sprintf("-> %d words", len(q.bytes)/8)
	case opFetch:
		s.Value = fmt.Sprintf("%s %s -> %s", q.op, word(q.operand), word(result))
	case opCAS:
		s.Value = fmt.Sprintf("%s ? %s -> %s", word(q.old), word(q.operand), word(result))
		if result != q.old {
			s.Value += ", lost"
		}
	case opSwap:
		s.Value = fmt.Sprintf("<- %s -> %s", word(q.operand), word(result))
	case opAdd:
		s.Value = fmt.Sprintf("+ %s -> %s", word(q.operand), word(result))
	case opCompareAndSwap:
		s.Value = fmt.Sprintf("%s -> %s", word(q.old), word(q.operand))
		if result == 0 {
			s.Value += ", lost"
		}
	case opAwait:
		s.Value = fmt.Sprintf("%s -> %s", q.until, word(result))
	case opFlush:
		s.Where = fmt.Sprintf("rank %d", q.target)
	case opFlushAll, opPause:
		s.Where = ""
	}
	t.trace = append(t.trace, s)
}

// word prints a small value in decimal and a large one in hexadecimal, so that a
// person recognises both.
func word(v uint64) string {
	switch n := int64(v); {
	case n > -1<<20 && n < 1<<20:
		return fmt.Sprintf("%d", n)
	default:
		return fmt.Sprintf("%#x", v)
	}
}

// ended records the end of the rank's body, if it has returned.
func (t *tracer) ended(r *rank) {
	if t != nil && r.phase == ended {
		value := ""
		if r.err != nil {
			value = r.err.Error()
		}
		t.note(r, "ends", value)
	}
}
