package stencil

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl"
)

// A file of a checkpoint is what one node has saved:
//
//	parts      the cells of a tile each: of each field that changes, its newest generation,
//	           then the one before if the field has Previous
//	contents   in msgpack: the grid, its fields, the box and checksum of each part, and values of reductions
//	foot       the contents' checksum and length, and the magic number, 8 bytes each
//
// Parts lie without gaps, so that a checksum covers each byte. Numbers of the foot and the cells
// have the byte order of the machine: one with another order finds no magic number.

// fileVersion is the version of the format.
const fileVersion = 2

const (
	footBytes = 24
	footMagic = 0x6c69636e6574736f // "ostencil" on amd64
)

// errDamaged is a file that is not as it was written.
var errDamaged = errors.New("damaged")

// contents is what a file says of itself.
type contents struct {
	Version int          `msgpack:"version"`
	Grid    string       `msgpack:"grid"`
	Sweeps  int          `msgpack:"sweeps"`
	Writer  int          `msgpack:"writer"`
	Of      int          `msgpack:"of"`
	Size    vec          `msgpack:"size"`
	Fields  []savedField `msgpack:"fields"`
	Parts   []savedPart  `msgpack:"parts"`
	// Reductions are the grid's. Version 1 has none.
	Reductions []savedReduction `msgpack:"reductions"`
}

// savedField is a field that changes.
type savedField struct {
	Name        string `msgpack:"name"`
	Bytes       int    `msgpack:"bytes"` // of an element
	Generations int    `msgpack:"generations"`
}

// savedPart is a tile of the run that wrote it.
type savedPart struct {
	Low  vec    `msgpack:"low"`
	High vec    `msgpack:"high"`
	Sum  uint64 `msgpack:"sum"`
	// Values are what the tile added to each reduction.
	Values [][]savedValue `msgpack:"values"`

	at int64 // in the file
}

func (p *savedPart) box() box { return box{p.Low, p.High} }

// savedFields are the fields of the grid that change.
func (g *Grid) savedFields() (all []savedField) {
	for _, f := range g.fields {
		if f.changes() {
			all = append(all, savedField{f.title(), f.elementBytes(), f.saved()})
		}
	}
	return all
}

// saved is how many generations the next sweep needs.
func (f *Field[T]) saved() int {
	if f.options.Previous != nil {
		return 2
	}
	return 1
}

// newContents lays out a file for tiles.
func (g *Grid) newContents(e entry, tiles []*tile) contents {
	c := contents{Version: fileVersion, Grid: e.grid, Sweeps: e.sweeps, Writer: e.writer, Of: e.of, Size: g.size, Fields: g.savedFields(), Reductions: g.savedReductions(e.sweeps)}
	for _, t := range tiles {
		b := g.result(t.at)
		c.Parts = append(c.Parts, savedPart{Low: b.low, High: b.high})
	}
	c.place()
	return c
}

// place says where the parts are.
func (c *contents) place() {
	at := int64(0)
	for i := range c.Parts {
		c.Parts[i].at = at
		at += c.partBytes(&c.Parts[i])
	}
}

// partBytes is the length of a part.
func (c *contents) partBytes(p *savedPart) int64 {
	each := 0
	for _, f := range c.Fields {
		each += f.Bytes * f.Generations
	}
	return int64(each) * int64(p.box().cells())
}

// bytes is the length of all parts.
func (c *contents) bytes() (n int64) {
	for i := range c.Parts {
		n += c.partBytes(&c.Parts[i])
	}
	return n
}

// encode is what follows the parts.
func (c *contents) encode() []byte {
	b := pack.Encode(c)
	sum, length := xxh3.Hash(b), len(b)
	b = binary.NativeEndian.AppendUint64(b, sum)
	b = binary.NativeEndian.AppendUint64(b, uint64(length))
	return binary.NativeEndian.AppendUint64(b, footMagic)
}

// readContents reads what a file of a length says of itself. It checks all but the parts.
func readContents(r io.ReaderAt, length int64) (c contents, err error) {
	var foot [footBytes]byte
	if length < footBytes {
		return c, fmt.Errorf("%w: %d bytes are no checkpoint", errDamaged, length)
	}
	if _, err := r.ReadAt(foot[:], length-footBytes); err != nil {
		return c, err
	}
	number := func(i int) uint64 { return binary.NativeEndian.Uint64(foot[8*i:]) }
	if number(2) != footMagic {
		return c, fmt.Errorf("%w: it does not end as a checkpoint of this kind of machine does", errDamaged)
	}
	if number(1) > uint64(length-footBytes) {
		return c, fmt.Errorf("%w: its contents have %d bytes, the file has %d", errDamaged, number(1), length)
	}
	b := make([]byte, number(1))
	if _, err := r.ReadAt(b, length-footBytes-int64(len(b))); err != nil {
		return c, err
	}
	if xxh3.Hash(b) != number(0) {
		return c, fmt.Errorf("%w: the checksum of its contents is wrong", errDamaged)
	}
	if err := pack.Decode(b, &c); err != nil {
		return c, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := c.check(); err != nil {
		return c, err
	}
	if n := c.bytes() + int64(len(b)) + footBytes; n != length {
		return c, fmt.Errorf("%w: its parts need %d bytes, it has %d", errDamaged, n, length)
	}
	c.place()
	return c, nil
}

// mostCells and mostElement bound the numbers of a file, so that no product of them overflows.
const (
	mostCells   = 1 << 40
	mostElement = 1 << 16
)

// check refuses what no grid can have.
func (c *contents) check() error {
	if c.Version < 1 || c.Version > fileVersion {
		return fmt.Errorf("it has version %d, want 1 to %d: it was written by another version of this library", c.Version, fileVersion)
	}
	cells := 1
	for _, n := range c.Size {
		if n < 1 || n > mostCells/cells {
			return fmt.Errorf("%w: its grid has size %v", errDamaged, c.Size)
		}
		cells *= n
	}
	for _, f := range c.Fields {
		if f.Bytes < 1 || f.Bytes > mostElement || f.Generations < 1 || f.Generations > 2 {
			return fmt.Errorf("%w: field %q has %d generations of %d bytes", errDamaged, f.Name, f.Generations, f.Bytes)
		}
	}
	for i := range c.Parts {
		p := c.Parts[i].box()
		if p.empty() || p.common(box{high: c.Size}) != p {
			return fmt.Errorf("%w: part %d is not in the grid", errDamaged, i)
		}
		if n := len(c.Parts[i].Values); n != 0 && n != len(c.Reductions) {
			return fmt.Errorf("%w: part %d has values of %d reductions, want %d", errDamaged, i, n, len(c.Reductions))
		}
	}
	return nil
}

// verify reads a part and compares its checksum.
func (c *contents) verify(r io.ReaderAt, p *savedPart) error {
	h := xxh3.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, p.at, c.partBytes(p))); err != nil {
		return err
	}
	if h.Sum64() != p.Sum {
		return fmt.Errorf("%w: the checksum of the cells from %v to %v is wrong", errDamaged, p.Low, p.High)
	}
	return nil
}

// chunkBytes is how much goes to a file at once. It is in the cache when the checksum has been
// computed.
const chunkBytes = 128 << 10

// save writes the tile's part after so many sweeps, and returns its checksum. The pass holds the
// tile.
func (p *piece) save(w io.WriterAt, part *savedPart, sweeps int) (sum uint64, err error) {
	data := orwl.Write[byte](p.data)
	h := xxh3.New()
	to := bufio.NewWriterSize(io.MultiWriter(io.NewOffsetWriter(w, part.at), h), chunkBytes)
	p.eachSaved(part.box(), vec{}, sweeps, func(at int, _ int64, bytes int) {
		_, _ = to.Write(data[at : at+bytes]) // Flush returns the error
	})
	err = to.Flush()
	return h.Sum64(), err
}

// restore sets the cells of the tile that lie in a part.
func (t *tile) restore(data []byte, r io.ReaderAt, part *savedPart, sweeps int) (err error) {
	for d := range direction(directions) {
		by, ok := t.grid.image(d)
		if !ok {
			continue
		}
		t.eachSaved(part.box(), by, sweeps, func(at int, from int64, bytes int) {
			if err == nil {
				_, err = r.ReadAt(data[at:at+bytes], part.at+from)
			}
		})
	}
	return err
}

// eachSaved yields the rows that the tile and a part have in common, if the part is moved: where
// they are in the tile's bytes and in the part.
func (t *tile) eachSaved(part box, by vec, sweeps int, yield func(at int, in int64, bytes int)) {
	p := newMemory[byte](part.moved(by))
	begin := int64(0)
	for i, f := range t.grid.fields {
		if !f.changes() {
			continue
		}
		m := newMemory[byte](t.grid.stored(f, t.at))
		size := f.elementBytes()
		common := p.box.common(m.box)
		for back := range f.saved() {
			at := t.layout.at[i]
			if f.generations() > 1 {
				at += (sweeps + back) & 1 * m.box.cells() * size
			}
			for z := common.low[0]; z < common.high[0]; z++ {
				for y := common.low[1]; y < common.high[1] && common.low[2] < common.high[2]; y++ {
					c := vec{z, y, common.low[2]}
					yield(at+m.index(c)*size, begin+int64(p.index(c)*size), (common.high[2]-common.low[2])*size)
				}
			}
			begin += int64(p.box.cells() * size)
		}
	}
}
