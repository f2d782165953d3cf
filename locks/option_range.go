package locks

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/topology"
)

// Range is a number among the options of a lock, and the values that it may have. A program that
// searches for good options goes through the ranges of a lock.
type Range struct {
	// Option is the field of Options, and for a threshold its level too, as in "TL[1]".
	Option string
	// Least and Most are the bounds. Options may exclude each other, though: see Spec.Validate.
	Least, Most int
	// Default is what the lock takes if the option is left out.
	Default int

	at func(*Options) *int
	// fill makes room for the number: it gives what belongs to it, if options leave it out.
	fill func(*Options)
}

// Ranges are the numbers among the options that the lock heeds, for a lock on t.
func (s Spec) Ranges(t *topology.Tree) (all []Range) {
	defaults := Options{}.withDefaults(s.Name, t)
	add := func(option, field string, least, most int, at func(*Options) *int, fill func(*Options)) {
		if slices.Contains(s.Options, field) {
			all = append(all, Range{Option: option, Least: least, Most: most, Default: *at(&defaults), at: at, fill: fill})
		}
	}
	for level := range t.Levels() {
		add(fmt.Sprintf("TL[%d]", level), "TL", 1, maxCount, func(o *Options) *int { return &o.TL[level] }, func(o *Options) {
			o.TL = slices.Clone(o.TL)
			for len(o.TL) <= level {
				o.TL = append(o.TL, DefaultTL)
			}
		})
	}
	nothing := func(*Options) {}
	add("TDC", "TDC", 1, t.Ranks(), func(o *Options) *int { return &o.TDC }, nothing) // more is one counter, too
	add("TR", "TR", 1, maxTR, func(o *Options) *int { return &o.TR }, nothing)
	add("TW", "TW", 1, maxCount, func(o *Options) *int { return &o.TW }, nothing)
	add("Hysteresis", "Hysteresis", 1, votes/2-1, func(o *Options) *int { return &o.Hysteresis }, nothing)
	add("Batch", "Batch", 1, maxBatch, func(o *Options) *int { return &o.Batch }, nothing)
	add("Patience", "Patience", 1, maxCount, func(o *Options) *int { return &o.Patience }, nothing)
	add("High", "High", 0, maxCount, func(o *Options) *int { return &o.High }, nothing)
	for _, pause := range []struct {
		field string
		of    func(*Options) *Backoff
	}{{"Backoff", func(o *Options) *Backoff { return &o.Backoff }}, {"RemoteBackoff", func(o *Options) *Backoff { return &o.RemoteBackoff }}} {
		fill := func(o *Options) {
			if b := pause.of(o); *b == (Backoff{}) {
				*b = *pause.of(&defaults)
			}
		}
		add(pause.field+".Min", pause.field, 1, maxCount, func(o *Options) *int { return &pause.of(o).Min }, fill)
		add(pause.field+".Max", pause.field, 1, maxCount, func(o *Options) *int { return &pause.of(o).Max }, fill)
	}
	return all
}

// Of is the number that o has, or the default.
func (r Range) Of(o Options) int {
	r.fill(&o)
	if v := *r.at(&o); v != 0 {
		return v
	}
	return r.Default
}

// With is o with another number.
func (r Range) With(o Options, value int) Options {
	r.fill(&o)
	*r.at(&o) = value
	return o
}
