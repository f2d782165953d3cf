package message

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// Version is the version of what runtimes say to each other. It changes with the meaning of any
// message.
const Version = 9

// Program is what nodes compare of the programs that they have declared: all items, or the first ones.
type Program struct {
	Version uint64 `msgpack:"version"`
	Items   int    `msgpack:"items"`
	Digest  []byte `msgpack:"digest"` // SHA-256 of these items
}

// Encode is the program as others are told it.
func (p Program) Encode() []byte {
	p.Version = Version
	return pack.Encode(&p)
}

// Same reports whether two nodes have declared the same items.
func (p Program) Same(other Program) bool {
	return p.Items == other.Items && bytes.Equal(p.Digest, other.Digest)
}

// ParseProgram reads a program.
func ParseProgram(b []byte) (p Program, err error) {
	if err = pack.Decode(b, &p); err != nil {
		return p, fmt.Errorf("orwl: program of a node: %w", err)
	}
	if p.Version != Version || p.Items < 0 {
		return p, fmt.Errorf("orwl: program of a node has %d items in version %d, want version %d: start all nodes from one build", p.Items, p.Version, Version)
	}
	return p, nil
}

// Item is a part of a program: a task, an access, a resource.
type Item struct {
	What string `msgpack:"what"`
	Is   string `msgpack:"is"` // its properties that must be the same on all nodes
}

func (i Item) String() string {
	if i.Is == "" {
		return i.What
	}
	return fmt.Sprintf("%s (%s)", i.What, i.Is)
}

// Encode is the item as others are told it.
func (i Item) Encode() []byte {
	return pack.Encode(&Item{i.What[:min(len(i.What), MostText)], i.Is[:min(len(i.Is), MostText)]})
}

// ParseItem reads an item.
func ParseItem(b []byte) (i Item, err error) {
	if err = pack.Decode(b, &i); err != nil {
		return i, fmt.Errorf("orwl: part of a program: %w", err)
	}
	return i, nil
}

// First are the first n of some items. It has fewer if there are fewer.
func First(items iter.Seq[Item], n int) Program {
	p, h := Program{}, sha256.New()
	for i := range items {
		if p.Items == n {
			break
		}
		p.Items++
		fmt.Fprintf(h, "%q %q\n", i.What, i.Is)
	}
	p.Digest = h.Sum(nil)
	return p
}

// Digest is a number of some bytes.
func Digest(b []byte) []byte {
	d := sha256.Sum256(b)
	return d[:]
}

// Stamps are the versions and the fences that resources have at their home before a run. A resource that is not
// among them has 0 of both.
type Stamps struct {
	Resources        []int // their numbers in the plan
	Versions, Fences []uint64
}

// stamps are Stamps as bytes.
type stamps struct {
	Version   uint64   `msgpack:"version"`
	Resources []int    `msgpack:"resources"`
	Versions  []uint64 `msgpack:"versions"`
	Fences    []uint64 `msgpack:"fences"`
}

// Add adds a resource.
func (s *Stamps) Add(resource int, version, fence uint64) {
	if version|fence != 0 {
		s.Resources, s.Versions, s.Fences = append(s.Resources, resource), append(s.Versions, version), append(s.Fences, fence)
	}
}

// Encode is the stamps as others are told them.
func (s *Stamps) Encode() []byte {
	return pack.Encode(&stamps{Version, s.Resources, s.Versions, s.Fences})
}

// ParseStamps reads the stamps of some of so many resources.
func ParseStamps(b []byte, resources int) (*Stamps, error) {
	var s stamps
	if err := pack.Decode(b, &s); err != nil {
		return nil, fmt.Errorf("orwl: stamps of a node: %w", err)
	}
	if n := len(s.Resources); s.Version != Version || len(s.Versions) != n || len(s.Fences) != n {
		return nil, fmt.Errorf("orwl: stamps of %d resources, %d versions and %d fences, in version %d: want as many of each, and version %d",
			n, len(s.Versions), len(s.Fences), s.Version, Version)
	}
	for _, r := range s.Resources {
		if r < 0 || r >= resources {
			return nil, fmt.Errorf("orwl: stamp of resource %d, want 0 to %d", r, resources-1)
		}
	}
	return &Stamps{s.Resources, s.Versions, s.Fences}, nil
}

// Starts are the tasks that a life begins elsewhere than after the round of its cut: they had ended before, or end there.
type Starts struct {
	Version uint64   `msgpack:"version"`
	Tasks   []int    `msgpack:"tasks"` // by number in the program
	Rounds  []uint64 `msgpack:"rounds"`
	Ended   []bool   `msgpack:"ended"`
}

// Add adds a task.
func (s *Starts) Add(task int, rounds uint64, ended bool) {
	s.Tasks, s.Rounds, s.Ended = append(s.Tasks, task), append(s.Rounds, rounds), append(s.Ended, ended)
}

// Encode is the message as others are told it.
func (s *Starts) Encode() []byte {
	s.Version = Version
	return pack.Encode(s)
}

// ParseStarts reads what a node says of some of so many tasks.
func ParseStarts(b []byte, tasks int) (*Starts, error) {
	s := new(Starts)
	if err := pack.Decode(b, s); err != nil {
		return nil, fmt.Errorf("orwl: starts of a node: %w", err)
	}
	if n := len(s.Tasks); s.Version != Version || len(s.Rounds) != n || len(s.Ended) != n {
		return nil, fmt.Errorf("orwl: starts of %d tasks, %d rounds and %d ends, in version %d: want as many of each, and version %d",
			n, len(s.Rounds), len(s.Ended), s.Version, Version)
	}
	for _, t := range s.Tasks {
		if t < 0 || t >= tasks {
			return nil, fmt.Errorf("orwl: start of task %d, want 0 to %d", t, tasks-1)
		}
	}
	return s, nil
}

// Life is what a node tells the others when a life has ended on it, or when it has come to the run.
type Life struct {
	Version uint64 `msgpack:"version"`
	Number  uint64 `msgpack:"number"` // of the life
	Base    uint64 `msgpack:"base"`   // the names of cuts have the number of the life, and this more
	Among   uint64 `msgpack:"among"`  // which life of its own the node is in, as the network counts
	Leaves  bool   `msgpack:"leaves"` // it wants to leave the run
	// Processors is how many the program was first told of; 0 if the node does not know.
	Processors int          `msgpack:"processors"`
	Outcome    Outcome      `msgpack:"outcome"`
	Node       int          `msgpack:"node"`   // which has failed
	Text       string       `msgpack:"text"`   // how, or what cannot survive
	Barren     int          `msgpack:"barren"` // how many lives have made no cut
	Weight     int          `msgpack:"weight"` // of the node in the next life; 0 if it has none yet
	Tries      int          `msgpack:"tries"`  // of the chair: see balance.Watch
	Kept       lives.Report `msgpack:"kept"`
}

// Folder is what a node tells the others of its folder of cuts, before the first life of a run.
type Folder struct {
	Version  uint64       `msgpack:"version"`
	Base     uint64       `msgpack:"base"`     // the numbers of lives in the names of its files end before
	Unusable int          `msgpack:"unusable"` // how many files are no cuts of this program, or damaged
	Kept     lives.Report `msgpack:"kept"`
}

// Encode is the message as others are told it.
func (f Folder) Encode() []byte {
	f.Version = Version
	return pack.Encode(&f)
}

// ParseFolder reads what a node tells.
func ParseFolder(b []byte) (f Folder, err error) {
	if err = pack.Decode(b, &f); err != nil {
		return f, fmt.Errorf("orwl: folder of a node: %w", err)
	}
	if f.Version != Version || f.Unusable < 0 {
		return f, fmt.Errorf("orwl: folder of a node with %d files of no use in version %d, want version %d", f.Unusable, f.Version, Version)
	}
	return f, nil
}

// Finish is what a node tells the others when its tasks of a run have ended, if the run makes cuts.
type Finish struct {
	Version uint64 `msgpack:"version"`
	lives.Finish
}

// Encode is the message as others are told it.
func (f Finish) Encode() []byte {
	f.Version = Version
	return pack.Encode(&f)
}

// ParseFinish reads what a node tells.
func ParseFinish(b []byte) (f lives.Finish, err error) {
	var m Finish
	if err = pack.Decode(b, &m); err != nil {
		return f, fmt.Errorf("orwl: end of a run: %w", err)
	}
	if m.Version != Version || m.Writes < 0 || m.Homes < 0 || m.Took < 0 || m.Least < 0 || m.LeastFor < 0 {
		return f, fmt.Errorf("orwl: end of a run, in version %d: %+v: want version %d, and nothing below 0", m.Version, m.Finish, Version)
	}
	return m.Finish, nil
}

// Outcome says how a life has ended on a node.
type Outcome uint8

// The outcomes.
const (
	Done   Outcome = iota // the program has returned without an error
	Came                  // there was none: the node has come to the run
	Over                  // the life has ended with a cut, because a node wanted it
	Lost                  // another node is lost, or was lost before the program had begun its run
	Mortal                // another node is lost, and the program cannot go on without it
	Failed                // the program has failed
	outcomes
)

// Encode is the message as others are told it.
func (l Life) Encode() []byte {
	l.Version, l.Text = Version, l.Text[:min(len(l.Text), MostText)]
	return pack.Encode(&l)
}

// ParseLife reads what a node tells.
func ParseLife(b []byte) (l Life, err error) {
	if err = pack.Decode(b, &l); err != nil {
		return l, fmt.Errorf("orwl: end of a life: %w", err)
	}
	if l.Version != Version || l.Outcome >= outcomes || l.Weight != 0 && !balance.Valid([]int{l.Weight}, 1) || l.Tries < 0 || l.Tries > balance.MostTries {
		return l, fmt.Errorf("orwl: end of a life, with outcome %d, weight %d and %d tries in version %d: want less than %d outcomes and version %d", l.Outcome, l.Weight, l.Tries, l.Version, outcomes, Version)
	}
	return l, nil
}

// Copy asks the home of a resource for a copy of its bytes, or is the answer, which comes with the bytes.
type Copy struct {
	Version  uint64 `msgpack:"version"`
	Number   uint64 `msgpack:"number"`   // of the question
	Resource string `msgpack:"resource"` // its name; empty in an answer
	Writes   uint64 `msgpack:"writes"`   // the version of the bytes
	Failure  string `msgpack:"failure"`  // why there is no copy
}

// Encode is the message as others are told it.
func (c Copy) Encode() []byte {
	c.Version, c.Failure = Version, c.Failure[:min(len(c.Failure), MostText)]
	return pack.Encode(&c)
}

// ParseCopy reads a question or an answer.
func ParseCopy(b []byte) (c Copy, err error) {
	if err = pack.Decode(b, &c); err != nil {
		return c, fmt.Errorf("orwl: copy of a resource: %w", err)
	}
	if c.Version != Version {
		return c, fmt.Errorf("orwl: copy of a resource in version %d, want version %d", c.Version, Version)
	}
	return c, nil
}

// Look asks a node how the program is there, or is the answer, which comes with an inspect.State as JSON.
type Look struct {
	Version uint64 `msgpack:"version"`
	Deep    bool   `msgpack:"deep"` // the question is also where bodies are
	Answer  bool   `msgpack:"answer"`
}

// Encode is the message as others are told it.
func (l Look) Encode() []byte {
	l.Version = Version
	return pack.Encode(&l)
}

// ParseLook reads a question or an answer.
func ParseLook(b []byte) (l Look, err error) {
	if err = pack.Decode(b, &l); err != nil {
		return l, fmt.Errorf("orwl: look at a program: %w", err)
	}
	if l.Version != Version {
		return l, fmt.Errorf("orwl: look at a program in version %d, want version %d", l.Version, Version)
	}
	return l, nil
}

// Failure says why a run has failed on a node, or that the node is lost.
type Failure struct {
	Node int
	Text string
	Lost bool
}

// failure is a Failure as bytes.
type failure struct {
	Version uint64 `msgpack:"version"`
	Node    int    `msgpack:"node"`
	Lost    bool   `msgpack:"lost"`
	Text    string `msgpack:"text"`
}

// MostText is how much of a text others are told: a panic's stack may be long.
const MostText = 64 << 10

// Encode is the failure as others are told it.
func (f *Failure) Encode() []byte {
	return pack.Encode(&failure{Version, f.Node, f.Lost, f.Text[:min(len(f.Text), MostText)]})
}

// ParseFailure reads a failure, of one of so many nodes.
func ParseFailure(b []byte, nodes int) (*Failure, error) {
	var f failure
	if err := pack.Decode(b, &f); err != nil {
		return nil, fmt.Errorf("orwl: failure of a node: %w", err)
	}
	if f.Version != Version || f.Node < 0 || f.Node >= nodes {
		return nil, fmt.Errorf("orwl: failure of node %d in version %d, want node 0 to %d and version %d", f.Node, f.Version, nodes-1, Version)
	}
	return &Failure{Node: f.Node, Text: f.Text, Lost: f.Lost}, nil
}
