package versions

import (
	"cmp"
	"slices"
)

// Span is Len bytes of a resource, from the byte Off on.
type Span struct{ Off, Len int }

// spans are ordered, and neither overlap nor touch. There are at most mostSpans: more become one that has them all.
type spans struct{ all []Span }

func (s *spans) reset() { s.all = s.all[:0] }

// add adds a span. Bytes between two spans may count, too.
func (s *spans) add(x Span) {
	if x.Len == 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(s.all, x, func(a, b Span) int { return cmp.Compare(a.Off, b.Off) })
	s.all = slices.Insert(s.all, at, x)
	last := 0
	for _, next := range s.all[1:] {
		if before := &s.all[last]; next.Off <= before.Off+before.Len {
			before.Len = max(before.Len, next.Off+next.Len-before.Off)
			continue
		}
		last++
		s.all[last] = next
	}
	s.all = s.all[:last+1]
	if len(s.all) > mostSpans {
		first, end := s.all[0], s.all[last]
		s.all = append(s.all[:0], Span{first.Off, end.Off + end.Len - first.Off})
	}
}

// bytes is how many bytes are in the spans.
func (s *spans) bytes() (n int) {
	for _, x := range s.all {
		n += x.Len
	}
	return n
}
