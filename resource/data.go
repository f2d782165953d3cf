package resource

import (
	"io"

	"github.com/orwl/go-orwl/internal/npy"
)

// Bytes is the resource's memory, to read. It is valid until the place releases.
func (p *Place) Bytes() ([]byte, error) {
	if p.state.Load()&heldBit == 0 {
		return nil, p.error("map", ErrNotHeld)
	}
	if p.x != nil && p.far() {
		if err := p.over("map"); err != nil {
			return nil, err
		}
	}
	if !p.r.buffer.Plain() {
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
	if !p.r.buffer.Plain() {
		return p.open(Write)
	}
	p.wrote = true
	return p.r.buffer.Bytes(), nil
}

// open is Bytes or Writable of a buffer that is not plain.
func (p *Place) open(m Mode) (b []byte, err error) {
	if p.r.pages() != nil {
		b, err = p.openPages(m)
	}
	if err == nil && m == Write {
		p.beginWrite()
	}
	if err == nil && b == nil {
		if p.Mode() == Write && !p.far() {
			p.r.buffer.Own()
		}
		b = p.r.buffer.Bytes()
	}
	return b, err
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

// committed makes the bytes that were written a version.
func (r *Resource) committed(x *extras) {
	r.ledger.Commit()
	if r.changes != nil {
		r.note(x)
	}
}

// mayWrite returns an error if the place must not write.
func (p *Place) mayWrite(op string) error {
	switch s := p.state.Load(); {
	case s&heldBit == 0:
		return p.error(op, ErrNotHeld)
	case s&writeBit == 0:
		return p.error(op, ErrReadOnly)
	case p.x != nil && p.far():
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
