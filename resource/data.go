package resource

import (
	"io"

	"github.com/orwl/go-orwl/internal/npy"
)

// Bytes is the resource's memory, to read. It is valid until the place releases.
func (p *Place) Bytes() ([]byte, error) {
	s := p.state.Load()
	if s&heldBit == 0 {
		return nil, p.error("map", ErrNotHeld)
	}
	if p.far() {
		if err := p.over("map"); err != nil {
			return nil, err
		}
	} else if s&writeBit != 0 {
		p.r.buffer.Own()
	}
	if p.r.pages() != nil {
		return p.open(Read)
	}
	return p.r.buffer.Bytes(), nil
}

// Writable is the resource's memory, to write. It is valid until the place
// releases, which then commits a new version.
func (p *Place) Writable() ([]byte, error) {
	if err := p.mayWrite("map"); err != nil {
		return nil, err
	}
	if p.r.pages() != nil {
		b, err := p.open(Write)
		if err == nil {
			p.beginWrite()
		}
		return b, err
	}
	p.beginWrite()
	if !p.far() {
		p.r.buffer.Own()
	}
	return p.r.buffer.Bytes(), nil
}

// beginWrite notes that the place is about to change the bytes.
func (p *Place) beginWrite() {
	if p.wrote {
		return
	}
	p.wrote = true
	if !p.far() { // the home has a copy
		p.r.save()
	}
}

// Size is how many bytes the resource has, once the place is granted; 0 before.
func (p *Place) Size() int {
	if p.Held() {
		return len(p.r.buffer.Bytes())
	}
	return p.sizeAhead()
}

// sizeAhead is Size of a place that does not hold.
func (p *Place) sizeAhead() int {
	s := p.state.Load()
	if s&requestedBit == 0 {
		return 0
	}
	if p.far() {
		return p.x.remote.size(p.r.mirror)
	}
	// Once the resource is broken, every request is due; this one may still not be
	// granted.
	if c := p.r.load(&p.r.completed); c&broken != 0 || !due(c, s&^flags, modeOf(s)) {
		return 0
	}
	return len(p.r.buffer.Bytes())
}

// Resize changes how many bytes the resource has. It keeps the old bytes as far as they
// fit, and new ones are zero. Slices from before are no longer valid.
func (p *Place) Resize(size int) error {
	if err := p.mayWrite("resize"); err != nil {
		return err
	}
	if !validSize(size) {
		return p.error("resize", sizeError(size))
	}
	r := p.r
	if size == len(r.buffer.Bytes()) {
		return nil
	}
	if r.pages() != nil {
		p.shut()
	}
	wrote := p.wrote
	p.beginWrite()
	if err := r.buffer.Resize(size); err != nil {
		p.wrote = wrote // the bytes are as before
		return p.error("resize", err)
	}
	// This range covers all later ones.
	x := p.extra()
	if x.dirty == nil {
		x.dirty = new(Ranges)
	}
	x.dirty.Whole(size)
	return nil
}

// uses reports whether the end of an access has more to do than to grant the next ones: see
// commit.
func (p *Place) uses(s uint64) bool { return s&writeBit != 0 || p.x != nil || p.watches }

// commit ends the place's use of the bytes, and makes what it wrote a version. s is the
// state with which it held.
func (p *Place) commit(s uint64) {
	r, x := p.r, p.x
	if p.wrote {
		p.wrote = false
		r.committed(x)
		if x != nil && x.dirty != nil {
			x.dirty.Reset() // after a resize, if there is no note of changes
		}
	} else if s&writeBit != 0 {
		r.ledger.Told()
	}
	if x != nil && x.view != nil {
		p.shut()
	}
	if p.watches {
		p.unwatch()
	}
}

// committed makes the bytes that were written a version.
func (r *Resource) committed(x *extras) {
	r.ledger.Commit()
	if r.changes != nil {
		r.changes.note(r.ledger.Version(), x, len(r.buffer.Bytes()))
	}
}

// mayWrite returns an error if the place must not write.
func (p *Place) mayWrite(op string) error {
	switch s := p.state.Load(); {
	case s&heldBit == 0:
		return p.error(op, ErrNotHeld)
	case s&writeBit == 0:
		return p.error(op, ErrReadOnly)
	case p.far():
		return p.over(op)
	}
	return nil
}

func validSize(size int) bool { return size >= 0 && size%8 == 0 }

// Array describes bytes as NumPy does: DType is the type of an element ("<f8"), Shape
// the number of elements along each axis. With Fortran the first axis varies fastest,
// otherwise the last. Size is the number of bytes.
type Array = npy.Array

// The errors of a .npy file. A file that ends too early also matches
// io.ErrUnexpectedEOF.
var (
	// ErrNotArray: the file breaks the format.
	ErrNotArray = npy.ErrFormat
	// ErrArrayType: the elements are not numbers in this machine's byte order.
	ErrArrayType = npy.ErrType
	// ErrArraySize: the array is larger than the limit, or its bytes have another size.
	ErrArraySize = npy.ErrSize
)

// WriteArray writes data as a .npy file, byte for byte as NumPy does.
func WriteArray(w io.Writer, a Array, data []byte) error { return npy.Write(w, a, data) }

// ReadArray reads a .npy file with at most limit bytes of data.
func ReadArray(r io.Reader, limit int64) (Array, []byte, error) { return npy.Read(r, limit) }
