package handle

import (
	"io"

	"github.com/orwl/go-orwl/resource"
)

// Export writes the resource that g holds as a .npy file for NumPy. a describes the
// bytes. Its size must be the resource's size, less at most 7 bytes of padding.
func Export(w io.Writer, g Grant, a resource.Array) error {
	b, err := g.held().place.Bytes()
	if err != nil {
		return err
	}
	n, err := a.Size()
	if err != nil {
		return err
	}
	if pad(n) == len(b) {
		b = b[:n]
	}
	return resource.WriteArray(w, a, b)
}

// Import reads a .npy file with at most limit bytes of data into the resource that g
// holds for writing. It resizes the resource to the data, pads it with zeroes to a
// multiple of 8, and returns the description of the bytes. If it fails, the resource
// is unchanged.
func Import(r io.Reader, g Grant, limit int64) (resource.Array, error) {
	a, b, err := resource.ReadArray(r, limit)
	if err != nil {
		return a, err
	}
	h := g.held()
	if err := h.Resize(pad(len(b))); err != nil {
		return a, err
	}
	to, err := h.place.Writable()
	if err != nil {
		return a, err
	}
	clear(to[copy(to, b):])
	// All bytes are dirty, even if the place has named other ranges.
	return a, h.place.Dirty(resource.Range{Len: len(to)})
}

// pad is n, rounded up to a size that a resource can have.
func pad(n int) int { return (n + 7) &^ 7 }
