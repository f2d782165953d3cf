package lives

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/internal/balance"
)

// Kind says what a message is about.
type Kind uint8

// The kinds of messages: see the package.
const (
	Ask Kind = iota + 1
	Past
	Part
	Have
	Whole
	Want
	Leave
	None
	Did
	kinds
)

// Message is what nodes tell each other about cuts.
type Message struct {
	Kind Kind
	Key
	Most  uint64 // Past: how far the sender is. Ask: the round of the last whole cut, 0 if there is none
	Owner int    // Part, Have
	Tasks int    // Part, Have: how many records the owner has
	Last  bool   // Whole: the life ends with this cut
	Saved bool   // Have: on the owner's disk
	// Did has the Load: what the sender has done in this run and life. The last Whole has the Weights of the next life, by
	// node of this one: nil if they stay.
	Load    balance.Load
	Weights []int
	Record
}

// header is a Message without its contents, as bytes.
type header struct {
	Kind Kind `msgpack:"kind"`
	Key
	Most      uint64        `msgpack:"most"`
	Owner     int           `msgpack:"owner"`
	Tasks     int           `msgpack:"tasks"`
	Task      int           `msgpack:"task"`
	Rounds    uint64        `msgpack:"rounds"`
	Ended     bool          `msgpack:"ended"`
	Last      bool          `msgpack:"last"`
	Saved     bool          `msgpack:"saved"`
	Load      *balance.Load `msgpack:"load"`
	Weights   []int         `msgpack:"weights"`
	Resources []int         `msgpack:"resources"`
	Sizes     []int         `msgpack:"sizes"`
}

var (
	// ErrMalformed is a message that no correct node sends.
	ErrMalformed = errors.New("lives: malformed message")
	// ErrFormer is a message of a former run of the program, which may have had other tasks.
	ErrFormer = errors.New("lives: a message of a former run")
)

// Limits are what messages of a run are about.
type Limits struct {
	Run                     uint64
	Nodes, Tasks, Resources int
}

// Encode is the message as others are told it. The contents of a record lie one behind the other in bulk.
func (m Message) Encode() (head, bulk []byte) {
	h := header{m.Kind, m.Key, m.Most, m.Owner, m.Tasks, m.Task, m.Rounds, m.Ended, m.Last, m.Saved, nil, m.Weights, nil, nil}
	if m.Kind == Did {
		h.Load = &m.Load
	}
	for _, c := range m.Contents {
		h.Resources, h.Sizes = append(h.Resources, c.Resource), append(h.Sizes, len(c.Bytes))
	}
	switch {
	case len(m.Contents) == 1:
		bulk = m.Contents[0].Bytes
	case m.bulk != nil:
		bulk = m.bulk
	default:
		for _, c := range m.Contents {
			bulk = append(bulk, c.Bytes...)
		}
	}
	return pack.Encode(&h), bulk
}

// Parse reads a message of a run. The contents are in bulk.
func Parse(head, bulk []byte, in Limits) (m Message, err error) {
	var h header
	if err := pack.Decode(head, &h); err != nil {
		return m, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if h.Run < in.Run {
		return Message{Kind: h.Kind, Key: h.Key, Last: h.Last}, ErrFormer
	}
	switch {
	case h.Kind == 0 || h.Kind >= kinds,
		h.Owner < 0 || h.Owner >= in.Nodes,
		h.Tasks < 0 || h.Tasks > in.Tasks,
		h.Task < 0 || h.Task > 0 && h.Task >= in.Tasks,
		len(h.Resources) != len(h.Sizes):
		return m, fmt.Errorf("%w: kind %d, owner %d of %d, %d tasks and task %d of %d, %d resources with %d sizes",
			ErrMalformed, h.Kind, h.Owner, in.Nodes, h.Tasks, h.Task, in.Tasks, len(h.Resources), len(h.Sizes))
	case h.Load != nil && !h.Load.Valid(), h.Weights != nil && !balance.Valid(h.Weights, in.Nodes):
		return m, fmt.Errorf("%w: the load %+v, the weights %v of %d nodes", ErrMalformed, h.Load, h.Weights, in.Nodes)
	}
	m = Message{h.Kind, h.Key, h.Most, h.Owner, h.Tasks, h.Last, h.Saved, balance.Load{}, h.Weights, Record{Task: h.Task, Rounds: h.Rounds, Ended: h.Ended}}
	if h.Load != nil {
		m.Load = *h.Load
	}
	for i, size := range h.Sizes {
		if r := h.Resources[i]; r < 0 || r >= in.Resources || size < 0 || size > len(bulk) {
			return m, fmt.Errorf("%w: resource %d of %d, %d bytes of %d", ErrMalformed, r, in.Resources, size, len(bulk))
		}
		m.Contents = append(m.Contents, Content{h.Resources[i], bulk[:size:size]})
		bulk = bulk[size:]
	}
	if len(bulk) > 0 {
		return m, fmt.Errorf("%w: %d bytes too many", ErrMalformed, len(bulk))
	}
	return m, nil
}
