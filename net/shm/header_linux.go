package shm

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"

	"github.com/orwl/go-orwl/net/topology"
)

func (o Options) geometry() geometry {
	return geometry{ranks: o.Topology.Ranks(), words: o.Words, dynamic: o.DynamicWords}
}

// fingerprint tells two topologies apart.
func fingerprint(tree *topology.Tree) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, tree.String())
	return h.Sum64()
}

func writeHeader(file *os.File, options Options) error {
	p := preamble{magic, version, uint64(options.Topology.Ranks()), uint64(options.Words), uint64(options.DynamicWords),
		fingerprint(options.Topology)}
	bytes, err := binary.Append(nil, binary.NativeEndian, p)
	if err == nil {
		_, err = file.WriteAt(bytes, 0)
	}
	if err != nil {
		return fmt.Errorf("shm: writing the fabric's header: %w", err)
	}
	return nil
}

// readHeader is the layout of the fabric in file. It is an error if the file is no
// fabric, or not the fabric that options describe.
func readHeader(file *os.File, options Options) (layout, error) {
	var p preamble
	bytes := make([]byte, binary.Size(p))
	if _, err := file.ReadAt(bytes, 0); err != nil {
		return layout{}, fmt.Errorf("%w: reading its header: %w: pass the file of a fabric, unchanged", ErrNotAFabric, err)
	}
	if _, err := binary.Decode(bytes, binary.NativeEndian, &p); err != nil {
		panic(err) // bytes has the size of p
	}
	if p.Magic != magic {
		return layout{}, fmt.Errorf("%w: it begins with %#x: pass the file of a fabric, unchanged", ErrNotAFabric, p.Magic)
	}
	if err := p.compare(options); err != nil {
		return layout{}, err
	}
	if p.Words-1 >= mostWords || p.Dynamic-1 >= mostWords {
		return layout{}, fmt.Errorf("%w: it has %d + %d words for a rank: pass the file of a fabric, unchanged", ErrNotAFabric, p.Words, p.Dynamic)
	}
	l, err := geometry{ranks: int(p.Ranks), words: int(p.Words), dynamic: int(p.Dynamic)}.layout()
	if err != nil {
		return layout{}, fmt.Errorf("%w: %w", ErrNotAFabric, err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != l.size {
		return layout{}, fmt.Errorf("%w: it should have %d bytes: pass the file of a fabric, not a copy", ErrNotAFabric, l.size)
	}
	if !sealed(file) {
		return layout{}, fmt.Errorf("%w: its size could change: pass the file of a fabric, not a copy", ErrNotAFabric)
	}
	return l, nil
}

// compare finds the first field in which a fabric differs from what options
// expect.
func (p preamble) compare(options Options) error {
	words, dynamic := p.Words, p.Dynamic
	if options.Words != 0 {
		words = uint64(options.Words)
	}
	if options.DynamicWords != 0 {
		dynamic = uint64(options.DynamicWords)
	}
	tree := options.Topology
	for _, field := range []struct {
		name, format string
		fabric, here uint64
	}{
		{"version", "%d", p.Version, version},
		{"number of ranks", "%d", p.Ranks, uint64(tree.Ranks())},
		{"topology", "tree %#x", p.Topology, fingerprint(tree)},
		{"Words", "%d", p.Words, words},
		{"DynamicWords", "%d", p.Dynamic, dynamic},
	} {
		if field.fabric != field.here {
			return &MismatchError{
				Field:  field.name,
				Fabric: fmt.Sprintf(field.format, field.fabric),
				Here:   fmt.Sprintf(field.format, field.here),
			}
		}
	}
	return nil
}
