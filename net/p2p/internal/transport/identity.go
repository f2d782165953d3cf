package transport

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
)

const (
	seedSize = 32 // of an Ed25519 key, and of a private network's

	// publicKey is the key of runs that have none and stay on one machine. It is
	// no secret, and keeps no process out.
	publicKey = "orwl: a run without a key"
)

// derive makes a seed for one purpose from a run's key.
func derive(key []byte, purpose string) []byte {
	if key == nil {
		key = []byte(publicKey)
	}
	seed, err := hkdf.Key(sha256.New, key, nil, purpose, seedSize)
	if err != nil {
		panic(fmt.Sprintf("p2p: deriving %q: %v", purpose, err)) // the size is allowed
	}
	return seed
}

// Identity is the private key of a node. Every process with the run's key can make it, so
// nodes need not tell each other their public keys.
func Identity(key []byte, number int) crypto.PrivKey {
	seed := derive(key, fmt.Sprintf("orwl node %d", number))
	private, _, err := crypto.GenerateEd25519Key(bytes.NewReader(seed))
	if err != nil {
		panic(fmt.Sprintf("p2p: identity of node %d: %v", number, err)) // a seed has the right size
	}
	return private
}

// identities are the public names of all nodes, by number.
func identities(key []byte, nodes int) []corepeer.ID {
	ids := make([]corepeer.ID, nodes)
	for i := range ids {
		id, err := corepeer.IDFromPrivateKey(Identity(key, i))
		if err != nil {
			panic(fmt.Sprintf("p2p: name of node %d: %v", i, err)) // every Ed25519 key has one
		}
		ids[i] = id
	}
	return ids
}
