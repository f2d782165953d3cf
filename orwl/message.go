package orwl

import (
	"bytes"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// messageVersion is the version of what runtimes say to each other. It changes with the
// meaning of any message.
const messageVersion = 1

// declared is the program that a node has declared.
type declared struct {
	Version uint64 `msgpack:"version"`
	Digest  []byte `msgpack:"digest"` // SHA-256 of its tasks and resources
}

// differs tells what differs in the program that another node has declared, "" if nothing does.
func (d declared) differs(said []byte) (why string, err error) {
	var other declared
	if err := pack.Decode(said, &other); err != nil {
		return "", err
	}
	switch {
	case other.Version != d.Version:
		return "comes from another build", nil
	case !bytes.Equal(other.Digest, d.Digest):
		return "has declared another program", nil
	}
	return "", nil
}

// failure is a NodeError, as other nodes are told it.
type failure struct {
	Version uint64 `msgpack:"version"`
	Node    int    `msgpack:"node"`
	Lost    bool   `msgpack:"lost"`
	Text    string `msgpack:"text"`
}

// mostText is how much of a failure is told to others: a panic's stack may be long.
const mostText = 64 << 10

// encode is the failure as others are told it.
func (e *NodeError) encode() []byte {
	return pack.Encode(&failure{messageVersion, e.Node, e.Lost, e.Text[:min(len(e.Text), mostText)]})
}

// parseFailure reads a failure, of one of so many nodes.
func parseFailure(b []byte, nodes int) (*NodeError, error) {
	var f failure
	if err := pack.Decode(b, &f); err != nil {
		return nil, fmt.Errorf("orwl: failure of a node: %w", err)
	}
	if f.Version != messageVersion || f.Node < 0 || f.Node >= nodes {
		return nil, fmt.Errorf("orwl: failure of node %d in version %d, want node 0 to %d and version %d", f.Node, f.Version, nodes-1, messageVersion)
	}
	return &NodeError{Node: f.Node, Lost: f.Lost, Text: f.Text}, nil
}
