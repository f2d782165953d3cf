package message

import (
	"bytes"
	"fmt"

	"github.com/orwl/go-orwl/internal/pack"
)

// Version is the version of what runtimes say to each other. It changes with the meaning of any
// message.
const Version = 4

// Program is the program that a node has declared.
type Program struct {
	Version uint64 `msgpack:"version"`
	Digest  []byte `msgpack:"digest"` // SHA-256 of its tasks and resources
}

// Encode is the program as others are told it.
func (p Program) Encode() []byte {
	p.Version = Version
	return pack.Encode(&p)
}

// Differs tells what differs in the program that another node has declared, "" if nothing does.
func (p Program) Differs(said []byte) (why string, err error) {
	var other Program
	if err := pack.Decode(said, &other); err != nil {
		return "", err
	}
	switch {
	case other.Version != Version:
		return "comes from another build", nil
	case !bytes.Equal(other.Digest, p.Digest):
		return "has declared another program", nil
	}
	return "", nil
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

// MostText is how much of a failure's text others are told: a panic's stack may be long.
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
