package locks

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/orwl/go-orwl/net/topology"
)

// Options are the parameters of all locks; each lock's row says which it heeds. The zero
// value is the lock as its row describes it.
type Options struct {
	// Name is what traces and errors call the lock: the spec's name by default.
	Name string

	// Home is the rank that keeps what the lock has only once.
	Home Rank

	// Operations makes the lock use the window's operations even where ranks share memory,
	// as the RMA papers do.
	Operations bool

	// Backoff is how long a rank pauses after a failed try (TAS, TTS, RH, foMPI-Spin, foMPI-RW).
	Backoff Backoff

	// RemoteBackoff is how long a rank pauses after a failed try in another element (RH).
	RemoteBackoff Backoff

	// TL is T_L,i, the locality thresholds: TL[i-1] acquisitions in a row inside an element
	// of level i, then the lock goes to another element. A missing one is DefaultTL. RMA-RW
	// uses TL[0] for the writers of the whole machine.
	TL []int

	// TDC is T_DC: every TDC-th rank keeps a counter of readers (RMA-RW). By default there is
	// one in each element of the finest level.
	TDC int

	// TR is T_R: how many readers may come to one counter in a row while a writer waits
	// (RMA-RW). DefaultTR by default.
	TR int

	// TW is T_W: how many writers may hold the lock in a row while readers wait (RMA-RW), at
	// least the product of T_L,2 to T_L,N. By default it is the product of all T_L,i.
	TW int

	// Hysteresis is how many epochs have to ask for it before RMA-RW-A takes its counters one step
	// further apart, or nearer. TDC, TL, TR and TW are the bounds of what it does. DefaultHysteresis
	// by default.
	Hysteresis int

	// StepBack makes a reader that is kept out step back once, instead of keeping its place
	// at once, and a writer take the lock without queueing up if it can have it at once
	// (RMA-RW). Where ranks outnumber processors and write often, that is up to eleven times
	// as fast, since no rank waits for one that sleeps. Neither T_L nor T_W holds then: any
	// number of writers may pass a reader that is slow to come back, or a writer in the queue
	// that is slow to wake up. A writer that is the first in the queues and has woken up
	// announces itself, and is the next. The writers behind it keep their order at each queue.
	StepBack bool

	// Batch is how many ranks of one element, at most, have the lock one after the other because
	// the queue is sorted (SHFL, CNA, Fissile), or how many ranks have it before one that is parked
	// (MCSCR), or how many writers before readers that wait (ShiftLock). DefaultTL by default.
	Batch int

	// Patience is how often a waiter looks before it keeps other ranks out: the head of Fissile
	// those that steal, a writer of C-RW-RP readers, a reader of C-RW-WP writers.
	// DefaultPatience by default.
	Patience int

	// High is how many acquisitions of high priority may come in a row while one of low
	// priority waits (P-X-Y). Zero means any number, as the paper has it.
	High int

	// Count is where a cohort lock counts its hand-overs (C-G-L).
	Count CohortCount

	// OwnNode makes each rank of a cohort queue up in a global MCS lock with a node of its own
	// instead of the cohort's, which the releaser has to find (C-MCS-L).
	OwnNode bool
}

// Backoff is an exponential pause, in local memory accesses: Min after the first failed try,
// twice as much after each further one, Max at most.
type Backoff struct{ Min, Max int }

// CohortCount is where a cohort lock counts its hand-overs: the first three of the steps from
// the slowest to the fastest (Uffmann, §5.4.1).
type CohortCount uint8

const (
	// CountInline passes the count on with the local lock.
	CountInline CohortCount = iota
	// CountDirect keeps it in the cohort's memory, accessed directly.
	CountDirect
	// CountLocal keeps it in the cohort's memory, accessed by operations.
	CountLocal
	// CountGlobal keeps one for all at the lock's home, accessed by operations.
	CountGlobal
)

// The defaults of Options.
const (
	DefaultTL         = 50
	DefaultTR         = 1000
	DefaultPatience   = 16
	DefaultHysteresis = 4
	DefaultBackoffMin = 8
	DefaultBackoffMax = 1024

	DefaultRemoteBackoffMin = 64
	DefaultRemoteBackoffMax = 4096
)

// withDefaults returns the options with nothing left out, for a lock on t.
func (o Options) withDefaults(name string, t *topology.Tree) Options {
	if o.Name == "" {
		o.Name = name
	}
	if o.Backoff == (Backoff{}) {
		o.Backoff = Backoff{DefaultBackoffMin, DefaultBackoffMax}
	}
	if o.RemoteBackoff == (Backoff{}) {
		o.RemoteBackoff = Backoff{DefaultRemoteBackoffMin, DefaultRemoteBackoffMax}
	}
	tl := slices.Repeat([]int{DefaultTL}, t.Levels())
	copy(tl, o.TL)
	o.TL = tl
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Hysteresis == 0 {
		o.Hysteresis = DefaultHysteresis
	}
	if o.Batch == 0 {
		o.Batch = DefaultTL
	}
	if o.TDC == 0 {
		_, o.TDC = t.Members(t.Levels(), 0)
	}
	if o.TR == 0 {
		o.TR = DefaultTR
	}
	if o.TW == 0 {
		if o.TW = 1; !product(&o.TW, o.TL) {
			o.TW = maxCount
		}
	}
	return o
}

// maxCount bounds every threshold, so that counts fit into part of a word.
const maxCount = 1 << 28

// maxBatch bounds Options.Batch: a grant of CNA has 20 bits for it.
const maxBatch = 1<<20 - 2

// product multiplies p by the numbers and reports whether the result is at most maxCount.
func product(p *int, numbers []int) bool {
	for _, n := range numbers {
		if *p > maxCount/n {
			return false
		}
		*p *= n
	}
	return true
}

// every are the options that every lock heeds.
var every = []string{"Name", "Home", "Operations"}

// validate names an option that the lock does not have or that is out of range. It looks at
// the options before withDefaults fills in what is zero.
func (o Options) validate(s Spec, t *topology.Tree) error {
	refuse := func(option string, value any, want string) error {
		return &OptionError{Lock: s.Name, Option: option, Value: value, Want: want}
	}
	for given, i := reflect.ValueOf(o), 0; i < given.NumField(); i++ {
		name := given.Type().Field(i).Name
		if !given.Field(i).IsZero() && !slices.Contains(every, name) && !slices.Contains(s.Options, name) {
			return refuse(name, given.Field(i).Interface(), "none: this lock has no such option")
		}
	}
	switch {
	case o.Home < 0 || int(o.Home) >= t.Ranks():
		return refuse("Home", o.Home, fmt.Sprintf("a rank, 0..%d", t.Ranks()-1))
	case o.Backoff.Min < 0 || o.Backoff.Max < o.Backoff.Min:
		return refuse("Backoff", o.Backoff, "0 <= Min <= Max")
	case o.RemoteBackoff.Min < 0 || o.RemoteBackoff.Max < o.RemoteBackoff.Min:
		return refuse("RemoteBackoff", o.RemoteBackoff, "0 <= Min <= Max")
	case o.Count > CountGlobal:
		return refuse("Count", o.Count, "one of the CohortCounts")
	case len(o.TL) > t.Levels():
		return refuse("TL", o.TL, fmt.Sprintf("at most %d thresholds, one for each level", t.Levels()))
	case o.Batch < 0 || o.Batch > maxBatch:
		return refuse("Batch", o.Batch, fmt.Sprintf("1..%d, or 0 for the default", maxBatch))
	case o.Patience < 0 || o.Patience > maxCount:
		return refuse("Patience", o.Patience, fmt.Sprintf("1..%d, or 0 for the default", maxCount))
	case o.Hysteresis < 0 || o.Hysteresis >= votes/2:
		return refuse("Hysteresis", o.Hysteresis, fmt.Sprintf("1..%d, or 0 for the default", votes/2-1))
	case o.High < 0 || o.High > maxCount:
		return refuse("High", o.High, fmt.Sprintf("1..%d, or 0 for no bound", maxCount))
	case o.TDC < 0:
		return refuse("TDC", o.TDC, "at least 1, or 0 for the default")
	case o.TR < 0 || o.TR > maxTR:
		return refuse("TR", o.TR, fmt.Sprintf("1..%d, or 0 for the default", maxTR))
	case o.TW < 0 || o.TW > maxCount:
		return refuse("TW", o.TW, fmt.Sprintf("1..%d, or 0 for the default", maxCount))
	}
	for _, tl := range o.TL {
		if tl < 1 || tl > maxCount {
			return refuse("TL", o.TL, fmt.Sprintf("thresholds of 1..%d", maxCount))
		}
	}
	below := 1
	if full := o.withDefaults(s.Name, t); !product(&below, full.TL[1:]) || full.TW < below {
		return refuse("TW", o.TW, "at least the product of T_L,2 to T_L,N")
	}
	return nil
}

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
