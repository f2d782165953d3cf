//go:build !js

package sim

import (
	"crypto/sha256"
	"encoding/hex"
)

// A browser shows no hash: there SHA-256 would make the simulator of orwl play larger by 50 kB.

// MachinesHash is the hash of the figures of all described machines. Print it beside a
// comparison: the figures stand before the result.
func MachinesHash() string {
	hash := sha256.Sum256(machinesFile)
	return hex.EncodeToString(hash[:6])
}
