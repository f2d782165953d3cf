package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/net/internal/extents"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
	"golang.org/x/sys/unix"
)

// seals keep every process from changing the size of the file: memory that all
// have mapped cannot be pulled away from under them.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// memory is the fabric's file, mapped into this process.
type memory struct {
	bytes []byte
	file  *os.File // a description of its own, see locks
}

// newFile makes a file of size zero bytes that take no space.
func newFile(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("orwl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // older than Linux 6.3
		fd, err = unix.MemfdCreate("orwl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("shm: memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "orwl fabric")
	if err := file.Truncate(size); err != nil {
		file.Close()
		return nil, fmt.Errorf("shm: a file of %d bytes: %w: lower Options.Words or Options.DynamicWords, or raise the limit on the size of files", size, err)
	}
	if err := seal(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func seal(file *os.File) error {
	_, err := fcntl(file, unix.F_ADD_SEALS, seals)
	if err != nil {
		return fmt.Errorf("shm: sealing the fabric's file: %w", err)
	}
	return nil
}

// sealed reports whether the size of a file can change no more.
func sealed(file *os.File) bool {
	have, err := fcntl(file, unix.F_GET_SEALS, 0)
	return err == nil && have&(unix.F_SEAL_SHRINK|unix.F_SEAL_GROW) == unix.F_SEAL_SHRINK|unix.F_SEAL_GROW
}

// reopen opens the file again. So this process has a description of it that no other
// process shares.
func reopen(file *os.File) (*os.File, error) {
	var own *os.File
	err := control(file, func(fd int) (err error) {
		own, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shm: opening the fabric's file again: %w: it has to be writable, and /proc mounted", err)
	}
	return own, nil
}

// mapMemory maps size bytes of the file. When the fabric is closed and its windows can
// be reached no more, the memory goes back to the system.
//
// unsafe: it makes a slice of the address that the system chose.
func mapMemory(file *os.File, size int64) (*memory, error) {
	var at unsafe.Pointer
	err := control(file, func(fd int) (err error) {
		at, err = unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shm: mapping %d bytes: %w: lower Options.Words or Options.DynamicWords, or raise the limit on address space", size, err)
	}
	m := &memory{bytes: unsafe.Slice((*byte)(at), size), file: file}
	runtime.AddCleanup(m, abandon, m.bytes)
	return m, nil
}

// abandon gives the memory back but keeps its addresses: private zeroes take its place.
// An operation that a closing fabric overtook, or a slice that was kept from Attach or
// Direct, then reads zeroes. Otherwise it would fault, or meet the next mapping.
//
// unsafe: it maps zeroes at the address of the memory.
func abandon(bytes []byte) {
	at := unsafe.Pointer(unsafe.SliceData(bytes))
	// If the system refuses, the memory stays until the process ends.
	_, _ = unix.MmapPtr(-1, 0, at, uintptr(len(bytes)), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE|unix.MAP_FIXED)
}

// punch zeroes words of the memory and gives their pages back to the system.
//
// unsafe: it computes where the words are in the file.
func (m *memory) punch(words []uint64) error {
	offset := int64(uintptr(unsafe.Pointer(&words[0])) - uintptr(unsafe.Pointer(&m.bytes[0])))
	return control(m.file, func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, 8*int64(len(words)))
	})
}

// view is the T that lies at offset, views the n of them.
//
// unsafe: it views mapped bytes as a T. Every T here is valid when zeroed, and all
// offsets are multiples of 8.
func view[T any](m *memory, offset int64) *T { return &views[T](m, offset, 1)[0] }

func views[T any](m *memory, offset int64, n int) []T {
	var one T
	bytes := m.bytes[offset : offset+int64(n)*int64(unsafe.Sizeof(one))]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// control runs do with the file's descriptor, which stays open meanwhile.
func control(file *os.File, do func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := raw.Control(func(fd uintptr) { failure = do(int(fd)) }); err != nil {
		return err
	}
	return failure
}

func fcntl(file *os.File, command, argument int) (result int, err error) {
	err = control(file, func(fd int) error {
		result, err = unix.FcntlInt(uintptr(fd), command, argument)
		return err
	})
	return result, err
}

// heap hands out symmetric memory from the front, in every process alike.
//
// Where an allocation begins, the log has its size. The first process that comes there
// writes it. Processes whose sizes have agreed so far are at the same place, so their
// first difference shows there. The log needs no order of its own, is full no sooner
// than the heap, and is as sparse.
type heap struct {
	log []atomic.Uint64 // shared

	mu   sync.Mutex
	used int
	err  error
}

func (h *heap) alloc(words int) (rma.Disp, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return 0, h.err
	}
	failure := &rma.AllocError{Words: words, Free: len(h.log) - h.used}
	if words < 1 || words > failure.Free {
		failure.Why, failure.Hint = rma.ErrNoSpace, "raise Options.Words, or ask for at least one word"
		return 0, failure
	}
	if entry := &h.log[h.used]; !entry.CompareAndSwap(0, uint64(words)) && entry.Load() != uint64(words) {
		failure.Why, failure.Hint = rma.ErrAsymmetric, fmt.Sprintf(
			"another process allocated %d words at displacement %d: make the same allocations in the same order in every process",
			entry.Load(), h.used)
		return 0, failure
	}
	base := h.used
	h.used += words
	return rma.Disp(base), nil
}

func (h *heap) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
}

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

// pools is the dynamic memory of all ranks. Every process looks regions up in the shared
// tables without a lock. Only the process of a rank needs to know which parts of its
// pool are free, so no other one does.
type pools struct {
	memory *memory
	ranks  []pool
}

// pool is one rank's dynamic memory.
type pool struct {
	slots []slot   // shared
	words []uint64 // shared

	mu     sync.Mutex
	free   extents.Extents // in granules
	fresh  int             // granules from here on were never used
	unused []int           // slots that were used before
	next   int             // slots from here on were never used
}

// punchWords is the size from which the pages of a detached region go back to
// the system at once. Smaller ones stay with the pool: they are soon used again.
const punchWords = 1 << 17

func newPools(m *memory, l layout) *pools {
	all := &pools{memory: m, ranks: make([]pool, l.ranks)}
	granules := (l.dynamic + granule - 1) / granule
	for p := range all.ranks {
		own := &all.ranks[p]
		own.slots = views[slot](m, l.tableOf(p), l.slots)
		own.words = views[uint64](m, l.poolOf(p), granules*granule)
		own.free = extents.Extents{{At: 0, N: granules}}
	}
	return all
}

// Region implements direct.Memory.
func (all *pools) Region(target rma.Rank, slot int, generation uint64) []uint64 {
	own := &all.ranks[target]
	if slot >= len(own.slots) {
		return nil
	}
	s := &own.slots[slot]
	tag := s.tag.Load()
	if tag&1 == 0 || rma.Dynamic(slot, tag>>1) != rma.Dynamic(slot, generation) {
		return nil
	}
	at, n := s.at.Load(), s.words.Load()
	if s.tag.Load() != tag {
		return nil // detached meanwhile: at and n need not belong together
	}
	return own.words[at : at+n : at+n]
}

// Attach implements direct.Memory.
func (all *pools) Attach(p rma.Rank, words int) (rma.Region, error) {
	own := &all.ranks[p]
	own.mu.Lock()
	defer own.mu.Unlock()
	if words < 1 || words > rma.MaxRegion {
		return rma.Region{}, own.noSpace(words, "a region has at least one word and at most 1<<32")
	}
	at, slot, why := own.take((words + granule - 1) / granule)
	if why != "" {
		return rma.Region{}, own.noSpace(words, why)
	}
	memory := own.words[at*granule : at*granule+words : at*granule+words]
	all.zero(memory[:min(words, max(0, own.fresh-at)*granule)])
	own.fresh = max(own.fresh, at+(words+granule-1)/granule)

	s := &own.slots[slot]
	s.at.Store(uint64(at * granule))
	s.words.Store(uint64(words))
	s.tag.Add(1)
	return rma.Region{Base: rma.Dynamic(slot, s.tag.Load()>>1), Words: memory}, nil
}

// Detach implements direct.Memory.
func (all *pools) Detach(p rma.Rank, base rma.Disp) error {
	own := &all.ranks[p]
	own.mu.Lock()
	defer own.mu.Unlock()
	slot, generation, offset := base.Dynamic()
	var memory []uint64
	if base.IsDynamic() && offset == 0 {
		memory = all.Region(p, slot, generation)
	}
	if memory == nil {
		return fmt.Errorf("shm: detach of %s: %w", base, rma.ErrNotAttached)
	}
	s := &own.slots[slot]
	s.tag.Add(1)
	if len(memory) >= punchWords {
		all.zero(memory)
	}
	own.unused = append(own.unused, slot)
	own.free.Give(int(s.at.Load())/granule, (len(memory)+granule-1)/granule)
	return nil
}

// zero clears memory, by giving it back to the system if there is much of it.
func (all *pools) zero(memory []uint64) {
	if len(memory) < punchWords || all.memory.punch(memory) != nil {
		clear(memory)
	}
}

// take finds a slot and granules for a region, or says why there are none.
func (own *pool) take(granules int) (at, slot int, why string) {
	if len(own.unused) == 0 && own.next == len(own.slots) {
		return 0, 0, fmt.Sprintf("the rank has %d regions already: detach some", own.next)
	}
	at, ok := own.free.Take(granules)
	if !ok {
		return 0, 0, "raise Options.DynamicWords, or detach regions"
	}
	if last := len(own.unused) - 1; last >= 0 {
		slot = own.unused[last]
		own.unused = own.unused[:last]
	} else {
		slot = own.next
		own.next++
	}
	return at, slot, ""
}

// noSpace is the error for a region that does not fit. Free is the largest that does.
func (own *pool) noSpace(words int, hint string) error {
	return &rma.AllocError{Words: words, Free: own.free.Largest() * granule, Why: rma.ErrNoSpace, Hint: hint}
}
