package handle

import (
	"io"

	"github.com/orwl/go-orwl/resource"
)

// Export writes the resource that g holds as a .npy file, which NumPy reads. a
// says what its bytes are; their number has to fit the resource.
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

// Import makes the resource that g holds for writing the contents of a .npy file,
// of at most limit bytes, resizes it to that, and says what the bytes are. A size
// that is no multiple of 8 is filled up with zeroes. If it fails, the resource is
// as it was.
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
	// All of it, also for a place that has named what else it changed.
	return a, h.place.Dirty(resource.Range{Len: len(to)})
}

// pad is the size of a resource that holds n bytes.
func pad(n int) int { return (n + 7) &^ 7 }
