package wire

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Hello is the first frame of each stream, in both directions. Its body is the version, as an
// integer in every version of this package, and then, in this version, a map:
//
//	[kind, 0, 0, version, {"nodes": 3, "node": 2, ...}]
//
// There is one for each stream, so a library encodes the map.
type Hello struct {
	Version     uint64 `msgpack:"-"`
	Nodes       uint64 `msgpack:"nodes"`       // the number of nodes of the run
	Node        uint64 `msgpack:"node"`        // the node that speaks
	Incarnation uint64 `msgpack:"incarnation"` // the life of that node
	Lane        uint64 `msgpack:"lane"`
	// Received is how many of the lane's frames this node has taken from the life Peer of
	// the other node. Peer is 0 if there was none.
	Peer     uint64 `msgpack:"peer"`
	Received uint64 `msgpack:"received"`
	// Lease and Skew are what the node's promises to the others depend on, in
	// nanoseconds.
	Lease uint64 `msgpack:"lease"`
	Skew  uint64 `msgpack:"skew"`
	// Address is where the node listens.
	Address string `msgpack:"address"`
}

// Append appends the frame.
func (f *Hello) Append(b []byte) []byte {
	from := len(b)
	b = AppendUint(begin(b, Head{Kind: KindHello}, 2), f.Version)
	return end(append(b, pack.Encode(f)...), from)
}

// Parse reads the body. If that has another version, it reads only the version.
func (f *Hello) Parse(r Reader) error {
	*f = Hello{Version: r.Uint()}
	if f.Version != Version {
		return r.err
	}
	if r.want(2); r.err != nil {
		return r.err
	}
	if err := pack.Decode(r.b, f); err != nil {
		return fmt.Errorf("%w: hello: %w", ErrMalformed, err)
	}
	if len(f.Address) > MaxText {
		r.fail("an address of %d bytes, at most %d are allowed", len(f.Address), MaxText)
	}
	return r.err
}
