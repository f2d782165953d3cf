package worlds

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/orwl/go-orwl/internal/rings"
)

// mostControls is how many worlds may pass before a mistake shows.
const mostControls = 400

// TestControls has worlds in which something is wrong. Some of them must complain. It begins with a world that has complained
// before.
func TestControls(t *testing.T) {
	rings.Computes(t)
	for lies, c := range map[string]struct {
		want  string
		first uint64 // the world
	}{
		"contents": {"was whole", 225},     // a sync of a file does nothing
		"names":    {"was whole", 48},      // a sync of names does nothing
		"records":  {"bits are wrong", 76}, // a damaged record has the right checksum
		"copies":   {"bits are wrong", 20}, // a record arrives with a wrong bit
		"versions": {"bits are wrong", 17}, // a record arrives as it was in a cut before
	} {
		t.Run(lies, func(t *testing.T) {
			t.Parallel()
			for i := range uint64(mostControls) {
				seed := (c.first + i) % mostControls
				for _, complaint := range play(t, seed, lies).complaints {
					if strings.Contains(complaint, c.want) {
						t.Logf("world %d: %s", seed, complaint)
						return
					}
				}
			}
			t.Errorf("no world of %d complains that %q", mostControls, c.want)
		})
	}
}

// forge changes a bit of a record in a file of a cut, and all its checksums: see file.go of package folder.
func forge(b []byte) []byte {
	const magic, lengths = 8, 16
	b = bytes.Clone(b)
	sum, forged := uint64(0), false
	for at := magic; at < len(b); {
		head, bulk := int(binary.LittleEndian.Uint64(b[at:])), int(binary.LittleEndian.Uint64(b[at+8:]))
		end := at + lengths + head + bulk
		if bulk > 0 && !forged {
			b[end-bulk] ^= 1
			forged = true
		}
		h := xxh3.NewSeed(sum)
		_, _ = h.Write(b[at:end]) // a hash has no errors
		sum = h.Sum64()
		binary.LittleEndian.PutUint64(b[end:], sum)
		at = end + 8
	}
	return b
}
