package lockstest

import (
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Subject is a lock that the suite judges.
type Subject struct {
	// Spec is the lock's row, with its promises.
	Spec locks.Spec
	// Operations makes the lock without direct access to shared memory.
	Operations bool
	// New allocates the lock. It returns a function that makes a rank's side.
	New func(f rma.Fabric, o locks.Options) (At, error)
}

// At is a lock. It gives each rank its side.
type At func(w rma.Window) locks.Mutex

// Of makes a subject of a row of the table.
func Of(spec locks.Spec) Subject {
	return Subject{
		Spec: spec,
		New: func(f rma.Fabric, o locks.Options) (At, error) {
			l, err := spec.New(f, o)
			if err != nil {
				return nil, err
			}
			return l.At, nil
		},
	}
}

// ByOperations is the subject without direct access to shared memory.
func (s Subject) ByOperations() Subject {
	s.Operations = true
	return s
}

// With returns the subject with the parameters of a variant.
func (s Subject) With(v Variant) Subject {
	whole := s.New
	s.New = func(f rma.Fabric, o locks.Options) (At, error) {
		v.Set(&o)
		return whole(f, o)
	}
	return s
}

// has reports whether the lock has an option.
func (s Subject) has(option string) bool { return slices.Contains(s.Spec.Options, option) }

// Thresholds are the numbers after which a lock lets other ranks go first.
type Thresholds struct{ TL, TR, TW int }

// Options are a lock's options with these thresholds, except for the options that
// the lock does not have. TL applies to every level. TW is at least what TL demands.
func (t Thresholds) Options(spec locks.Spec, tree *topology.Tree) locks.Options {
	var o locks.Options
	least := 1
	for i := range tree.Levels() {
		o.TL = append(o.TL, t.TL)
		if i > 0 {
			least *= t.TL
		}
	}
	o.TR, o.TW, o.Batch, o.Patience, o.High, o.Hysteresis = t.TR, max(t.TW, least), t.TL, t.TL, t.TL, t.TL
	for _, option := range []struct {
		name string
		drop func()
	}{
		{"TL", func() { o.TL = nil }},
		{"TR", func() { o.TR = 0 }},
		{"TW", func() { o.TW = 0 }},
		{"Batch", func() { o.Batch = 0 }},
		{"Patience", func() { o.Patience = 0 }},
		{"High", func() { o.High = 0 }},
		{"Hysteresis", func() { o.Hysteresis = 0 }},
	} {
		if !slices.Contains(spec.Options, option.name) {
			option.drop()
		}
	}
	return o
}

// tight are thresholds so small that they take effect in a few acquisitions.
var tight = Thresholds{TL: 2, TR: 3, TW: 2}

// Variant is another setting of one of a lock's parameters.
type Variant struct {
	Name string
	Set  func(o *locks.Options)
	// Without lists the cases that the variant does not pass, because it does not
	// make the promise.
	Without []string
}

// Variants are the variants of a lock. The first variant changes nothing.
func Variants(spec locks.Spec) []Variant {
	variants := []Variant{{Set: func(*locks.Options) {}}}
	for _, v := range []struct {
		option string
		Variant
	}{
		{"Count", Variant{Name: "CountDirect", Set: func(o *locks.Options) { o.Count = locks.CountDirect }}},
		{"Count", Variant{Name: "CountLocal", Set: func(o *locks.Options) { o.Count = locks.CountLocal }}},
		{"Count", Variant{Name: "CountGlobal", Set: func(o *locks.Options) { o.Count = locks.CountGlobal }}},
		{"OwnNode", Variant{Name: "OwnNode", Set: func(o *locks.Options) { o.OwnNode = true }}},
		{"High", Variant{Name: "Unbounded", Set: func(o *locks.Options) { o.High = 0 }}},
		{"StepBack", Variant{Name: "StepBack", Set: func(o *locks.Options) { o.StepBack = true }, Without: []string{
			"bypass/locality", "bypass/writers", "counts/passed", // writers barge, and do not pass the lock along
		}}},
	} {
		if slices.Contains(spec.Options, v.option) {
			variants = append(variants, v.Variant)
		}
	}
	return variants
}
