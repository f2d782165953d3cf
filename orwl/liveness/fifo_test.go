package liveness

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/resource"
)

// plainFIFO is the reference of FIFO: a list without groups. A request is granted if
// nothing ahead of it conflicts with it.
type plainFIFO []plainFIFORequest

type plainFIFORequest struct {
	id   coherence.ID
	mode resource.Mode
}

func (p plainFIFO) at(id coherence.ID) int {
	return slices.IndexFunc(p, func(r plainFIFORequest) bool { return r.id == id })
}

// granted is the number of requests at the front that are granted.
func (p plainFIFO) granted() int {
	for i, r := range p {
		if i > 0 && (r.mode == resource.Write || p[0].mode == resource.Write) {
			return i
		}
	}
	return len(p)
}

// fifoPair is a FIFO and its reference.
type fifoPair struct {
	t     interface{ Fatalf(string, ...any) }
	fifo  FIFO
	plain plainFIFO
}

// step makes one step in both and compares them.
func (p *fifoPair) step(name string, id, next coherence.ID, m resource.Mode) {
	before := slices.Clone(p.plain)
	at, granted := p.plain.at(id), p.plain.granted()
	var want, waits, holds error // the errors of the step, of a cancellation, and of a release
	switch {
	case at < 0:
		waits, holds = coherence.ErrNotQueued, coherence.ErrNotQueued
	case at < granted:
		waits = coherence.ErrGranted
	default:
		holds = coherence.ErrNotGranted
	}
	room := func(id coherence.ID) error {
		if m > resource.Write {
			return coherence.ErrMode
		} else if p.plain.at(id) >= 0 {
			return coherence.ErrQueued
		}
		return nil
	}
	add := func(id coherence.ID) { p.plain = append(p.plain, plainFIFORequest{id, m}) }
	drop := func() { p.plain = slices.Delete(slices.Clone(p.plain), at, at+1) }

	const mark = 1 << 40 // the step must keep the entries of the list
	var got []coherence.ID
	var err error
	switch name {
	case "request":
		if want = room(id); want == nil {
			add(id)
		}
		got, err = p.fifo.Request(id, m, []coherence.ID{mark})
	case "release":
		if want = holds; want == nil {
			drop()
		}
		got, err = p.fifo.Release(id, []coherence.ID{mark})
	case "renew":
		if want = holds; want == nil {
			want = room(next)
		}
		if want == nil {
			add(next)
			drop()
		}
		got, err = p.fifo.Renew(id, next, m, []coherence.ID{mark})
	case "cancel":
		if want = waits; want == nil {
			drop()
		}
		got, err = p.fifo.Cancel(id, []coherence.ID{mark})
	}
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		p.t.Fatalf("%s %d (%d, %v) of %v: %v, want %v", name, id, next, m, before, err, want)
	}
	news := []coherence.ID{mark}
	for _, r := range p.plain[:p.plain.granted()] {
		if i := plainFIFO(before).at(r.id); i < 0 || i >= granted {
			news = append(news, r.id)
		}
	}
	if !slices.Equal(got, news) {
		p.t.Fatalf("%s %d (%d, %v) of %v: grants %v, want %v", name, id, next, m, before, got[1:], news[1:])
	}
	p.compare()
}

// compare compares the whole queue with its reference.
func (p *fifoPair) compare() {
	checkFIFO(p.t, &p.fifo)
	var got plainFIFO
	p.fifo.All(func(group int, m resource.Mode, id coherence.ID) bool {
		i := len(got)
		granted, queued := p.fifo.Granted(id)
		if !queued || granted != (i < p.plain.granted()) || granted != (group == 0) {
			p.t.Fatalf("request %d is granted: %v, queued: %v, in %v", id, granted, queued, p.plain)
		}
		got = append(got, plainFIFORequest{id, m})
		return true
	})
	for id := range coherence.ID(16) {
		if granted, queued := p.fifo.Granted(id); p.plain.at(id) < 0 && (granted || queued) {
			p.t.Fatalf("request %d is granted: %v, queued: %v, and not in %v", id, granted, queued, p.plain)
		}
	}
	if !slices.Equal(got, p.plain) || p.fifo.Len() != len(p.plain) {
		p.t.Fatalf("%v, want %v", got, p.plain)
	}
}

var fifoSteps = []string{"request", "release", "renew", "cancel"}

// A FIFO does what its reference does. There are few IDs, so that some steps are
// mistakes.
func TestFIFOModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := fifoPair{t: t}
		ids := rapid.IntRange(1, 12).Draw(t, "ids")
		id := rapid.Custom(func(t *rapid.T) coherence.ID { return coherence.ID(rapid.IntRange(0, ids-1).Draw(t, "id")) })
		mode := rapid.SampledFrom([]resource.Mode{resource.Read, resource.Read, resource.Read, resource.Write, resource.Write, resource.Write + 1})
		name := rapid.SampledFrom(append(fifoSteps, "request"))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p.step(name.Draw(t, "step"), id.Draw(t, "h"), id.Draw(t, "as"), mode.Draw(t, "mode"))
		}
	})
}

// Two bytes are a step. The first byte is the verb and the mode, the second byte is two
// of sixteen IDs.
func FuzzFIFO(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x04\x00\x00\x11\x04\x22\x03\x11\x01\x00")) // cancel a writer between readers
	f.Add([]byte("\x00\x00\x04\x11\x02\x02\x06\x13\x01\x22"))
	f.Fuzz(func(t *testing.T, script []byte) {
		p := fifoPair{t: t}
		for ; len(script) >= 2; script = script[2:] {
			mode := [...]resource.Mode{resource.Read, resource.Write, resource.Read, resource.Write + 1}[script[0]>>2&3]
			p.step(fifoSteps[script[0]&3], coherence.ID(script[1]>>4), coherence.ID(script[1]&15), mode)
		}
	})
}

// All stops when yield returns false.
func TestFIFOAllStops(t *testing.T) {
	var q FIFO
	for id := range coherence.ID(4) {
		if _, err := q.Request(id, resource.Write, nil); err != nil {
			t.Fatal(err)
		}
	}
	visits := 0
	q.All(func(int, resource.Mode, coherence.ID) bool { visits++; return visits < 2 })
	if visits != 2 {
		t.Errorf("%d visits after the second said stop", visits)
	}
}

// BenchmarkFIFORenew is the step of a stencil's resource: one writer and three readers
// take turns.
func BenchmarkFIFORenew(b *testing.B) {
	var q FIFO
	var granted []coherence.ID
	for id, m := range []resource.Mode{resource.Write, resource.Read, resource.Read, resource.Read} {
		granted, _ = q.Request(coherence.ID(id), m, granted)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m := resource.Read
		if i%4 == 0 {
			m = resource.Write
		}
		var err error
		if granted, err = q.Renew(coherence.ID(i), coherence.ID(i+4), m, granted[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
