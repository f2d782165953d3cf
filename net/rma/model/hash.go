//go:build !js

package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A browser shows no hash: there SHA-256 would make the simulator of orwl play larger by 50 kB.

// Hash is a hash of the model. Print it before a comparison: the figures stand before the result.
func (m *Model) Hash() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("model: machine %q: %v", m.Name, err)) // an infinite cost
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
