package sim

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
)

// Virtual time is whole picoseconds. A model's costs are rounded to them once. From
// then on there are only integers: a processor that fuses a multiplication and an
// addition of floating-point numbers predicts the same as any other.

// picoseconds is how many there are in a nanosecond.
const picoseconds = 1000

func ps(ns float64) int64 { return int64(math.Round(ns * picoseconds)) }

// price is a level's costs.
type price struct {
	put, get, atomic, shared, copied fare
	issue                            int64
	coherent                         bool
}

// fare is the cost of one kind of operation, in picoseconds.
type fare struct {
	half int64 // one way
	beta int64 // for a byte
	busy int64
}

func fareOf(c model.Cost) fare { return fare{ps(c.Alpha / 2), ps(c.Beta), ps(c.Busy)} }

func pricesOf(costs []model.LevelCost) []price {
	prices := make([]price, len(costs))
	for i, c := range costs {
		prices[i] = price{fareOf(c.Put), fareOf(c.Get), fareOf(c.Atomic), fareOf(c.Shared), fareOf(c.Copy), ps(c.Issue), c.Coherent}
	}
	return prices
}

// withoutCall are the costs of instructions where operations are calls of a library, or nil.
func withoutCall(costs []model.LevelCost, d *model.Direct) []price {
	if d == nil || d.Call == 0 {
		return nil
	}
	costs = slices.Clone(costs)
	for i := range costs {
		if c := &costs[i]; c.Coherent {
			for _, of := range []*model.Cost{&c.Put, &c.Get, &c.Atomic, &c.Shared, &c.Copy} {
				of.Alpha = max(0, of.Alpha-d.Call)
			}
			c.Issue = max(0, c.Issue-d.Call)
		}
	}
	return pricesOf(costs)
}

// lists is what a rank takes to look at the target's list of regions, before it accesses memory that the target has
// attached. The look is a Get, or several.
func (p *predictor) lists(r *rank, q *request) int64 {
	if p.machine.Lists == 0 || q.kind > opGetBytes || !q.disp.IsDynamic() || q.target == r.id {
		return 0
	}
	return int64(p.machine.Lists) * 2 * p.costs[p.topology.Common(r.id, q.target)].get.half
}

// sharesMemory reports whether a rank reaches the memory of another one by instructions.
func (p *predictor) sharesMemory(r *rank, target rma.Rank) bool {
	return !p.nodesApart || !p.anyCoherent || p.costs[p.topology.Common(r.id, target)].coherent
}

// isAtomic reports whether the target's unit for atomics makes the operation.
func (p *predictor) isAtomic(q *request) bool {
	switch q.kind {
	case opAccumulate, opFetch, opCAS:
		return true
	}
	return false
}

// pricesOf are the prices for r's request, by level. A rank that reaches a word by instructions also waits for it, and
// wakes others, without a call of the library. A rank that waits reads its own memory without a call, too.
func (p *predictor) pricesOf(r *rank, q *request) []price {
	if p.uncalled != nil && (q.direct() || q.kind == opAwait && q.target == r.id || r.mapped[address{q.target, q.disp}]) {
		return p.uncalled
	}
	return p.costs
}

// fare is the price of an operation for r as things are now. Between ranks that share
// memory it depends on which rank has the word's cache line.
func (p *predictor) fare(r *rank, q *request) *fare {
	costs := p.pricesOf(r, q)
	price := &costs[p.topology.Common(r.id, q.target)]
	if p.looksForRanks(q) {
		return &p.direct.load
	}
	if price.coherent {
		line := p.lines.at(q.target, q.disp)
		from, held := line.from(p.place(r), q.changes())
		switch {
		case held && q.kind >= opLoad && p.direct != nil:
			return p.instruction(q)
		case held:
			price = &costs[len(costs)-1]
		case from >= 0:
			price = &costs[p.apart(p.place(r), from)]
			if price.shared.half > 0 && q.changes() && line.held(p.place(r), false) {
				return &price.shared
			}
			if near := p.copied(line, p.place(r)); near >= 0 && !q.changes() {
				return &costs[near].copied
			}
		}
	}
	switch q.kind {
	case opPut, opPutBytes:
		return &price.put
	case opGet, opGetBytes, opAwait, opLoad, opNotify:
		return &price.get
	}
	return &price.atomic
}

// copied is the level of the nearest rank that has read the line since it was changed, if the two share a cache,
// which has a copy then. Without such a rank it is -1.
func (p *predictor) copied(line *cacheLine, place int32) int {
	near := -1
	for _, other := range line.holders {
		if level := p.apart(place, other); other != line.owner-1 && p.costs[level].copied.half > 0 {
			near = max(near, level)
		}
	}
	return near
}

// looksForRanks reports whether the operation is a look for ranks that sleep, at a line that changes only when
// one falls asleep or is woken. It does not touch the line of the word.
func (p *predictor) looksForRanks(q *request) bool { return q.kind == opNotify && p.direct != nil }

// directPrices are the prices of instructions on a line that the rank has.
type directPrices struct{ load, store, swap fare }

func directOf(d *model.Direct) *directPrices {
	if d == nil {
		return nil
	}
	half := func(ns float64) fare { return fare{half: ps(ns / 2)} }
	return &directPrices{half(d.Load), half(d.Store), half(d.Swap)}
}

func (p *predictor) instruction(q *request) *fare {
	switch q.kind {
	case opLoad, opNotify:
		return &p.direct.load
	case opStore:
		return &p.direct.store
	}
	return &p.direct.swap
}

// own is what a rank computes with each access, besides it.
type own struct{ instruction, operation, clock, pause, offer int64 }

// longPause is the Pause from which on a rank offers its processor, as in package direct.
const longPause = 64

func ownOf(o *model.Own) own {
	if o == nil {
		return own{}
	}
	return own{ps(o.Instruction), ps(o.Operation), ps(o.Clock), ps(o.Pause), ps(o.Offer)}
}

func (o *own) of(q *request) int64 {
	switch {
	case q.direct():
		return o.instruction
	case q.kind == opFlush || q.kind == opFlushAll || q.kind == opPause:
		return 0
	}
	return o.operation
}

// place is where r keeps its cache: the processor that it has, or a core of its own.
func (p *predictor) place(r *rank) int32 {
	if p.processors != nil {
		return int32(max(r.cpu, 0))
	}
	return int32(r.id)
}

// apart is the level of two places: the finest that they have in common.
func (p *predictor) apart(a, b int32) int {
	if p.processors != nil {
		return 0
	}
	return p.topology.Common(rma.Rank(a), rma.Rank(b))
}

// machinesFile has the described machines: each figure, and where it comes from.
//
//go:embed machines.json
var machinesFile []byte

// Machine is a described machine.
type Machine struct {
	Model   model.Model `json:"model"`
	Figures []Origin    `json:"figures"`
}

// Origin says where figures of a machine come from.
type Origin struct {
	Figure string `json:"figure"`
	Grade  string `json:"grade"` // published, recalled, derived or assumed
	Source string `json:"source"`
}

// Described are the described machines with the sources of their figures.
func Described() []Machine {
	var file struct {
		About    string
		Machines []Machine
	}
	decoder := json.NewDecoder(bytes.NewReader(machinesFile))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		panic(fmt.Sprintf("sim: machines.json: %v", err))
	}
	return file.Machines
}

// Machines are the models of the described machines. Use them to compare algorithms with
// each other.
func Machines() []model.Model {
	var models []model.Model
	for _, m := range Described() {
		models = append(models, m.Model)
	}
	return models
}

// MachineByName finds a described machine.
func MachineByName(name string) (model.Model, error) {
	var known []string
	for _, m := range Machines() {
		if strings.EqualFold(m.Name, name) {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return model.Model{}, fmt.Errorf("sim: no machine %q: known are %s", name, strings.Join(known, ", "))
}
