package sim

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
)

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
