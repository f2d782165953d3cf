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
func Identity(key []byte, number int) crypto.PrivKey { return identity(key, nodePurpose(number)) }

// nodePurpose is what the identity of a node is derived for.
func nodePurpose(number int) string { return fmt.Sprintf("orwl node %d", number) }

// identity is the private key that is derived for a purpose.
func identity(key []byte, purpose string) crypto.PrivKey {
	private, _, err := crypto.GenerateEd25519Key(bytes.NewReader(derive(key, purpose)))
	if err != nil {
		panic(fmt.Sprintf("p2p: identity of %q: %v", purpose, err)) // a seed has the right size
	}
	return private
}

// nameOf is the public name of that identity.
func nameOf(key []byte, purpose string) corepeer.ID {
	id, err := corepeer.IDFromPrivateKey(identity(key, purpose))
	if err != nil {
		panic(fmt.Sprintf("p2p: name of %q: %v", purpose, err)) // every Ed25519 key has one
	}
	return id
}

// identities are the public names of all nodes, by number.
func identities(key []byte, nodes int) []corepeer.ID {
	ids := make([]corepeer.ID, nodes)
	for i := range ids {
		ids[i] = nameOf(key, nodePurpose(i))
	}
	return ids
}
