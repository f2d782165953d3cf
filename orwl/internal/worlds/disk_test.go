package worlds

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// disk is a simulated disk. Processes may share it: each sees at once what another one writes. Bytes outlive a power failure only if they were
// synced before:
//
//	write ──▶ sync ──▶ rename ──▶ sync of names
//	      │                  └── power fails here: the file has any of its names, or none
//	      └── power fails here: the file has what was synced, all, half of the rest, or zeros
type disk struct {
	mu     sync.Mutex
	rng    *rand.Rand
	files  map[string]*contents
	synced map[string]*contents // names and files after a power failure, without the pending changes
	change []func(names map[string]*contents)
	locked map[string]*process
	full   bool
	slow   time.Duration // the longest time that an operation takes
	lies   string        // the planted fault, if any: see TestControls
}

// contents are the bytes of a file.
type contents struct{ written, synced []byte }

func newDisk(seed uint64) *disk {
	return &disk{
		rng: rand.New(rand.NewPCG(seed, 3)), files: make(map[string]*contents), synced: make(map[string]*contents), locked: make(map[string]*process),
	}
}

// changes changes names. A sync of names makes that permanent. d.mu is held.
func (d *disk) changes(change func(names map[string]*contents)) {
	change(d.files)
	d.change = append(d.change, change)
}

// powerFails has the disk lose what was not synced, or some of it. No process lives. It reports whether something is lost, and whether there is a file
// that was not synced.
func (d *disk) powerFails() (loses, tears bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, change := range d.change {
		if d.rng.IntN(2) == 0 {
			change(d.synced)
		} else {
			loses = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.synced)) {
		c := d.synced[name]
		if rest := len(c.written) - len(c.synced); rest > 0 {
			written := c.written
			switch d.rng.IntN(4) {
			case 0:
				c.written = c.synced
			case 1:
				c.written = c.written[:len(c.synced)+rest/2]
			case 2:
				c.written = append(bytes.Clone(c.synced), make([]byte, rest)...)
			}
			loses, tears = loses || !bytes.Equal(written, c.written), tears || len(c.written) > 0
		}
		c.synced = bytes.Clone(c.written)
	}
	d.files, d.change = maps.Clone(d.synced), nil
	return loses, tears
}

// damage changes a file of a cut, and returns its name, "" if there is none. No process lives.
func (d *disk) damage(k lives.Key) string {
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if cutOf(name) != k || k == (lives.Key{}) {
			continue
		}
		c := d.files[name]
		b := bytes.Clone(c.written)
		if len(b) == 0 {
			return name // a disk that lies has done that
		}
		if d.lies == "records" {
			c.written = forge(b)
			return name
		}
		switch at := d.rng.IntN(len(b)); d.rng.IntN(3) {
		case 0:
			b[at] ^= 1 << d.rng.IntN(8)
		case 1:
			b = b[:at]
		default:
			clear(b[at:])
			b[at] = ^c.written[at]
		}
		c.written, c.synced = b, b
		return name
	}
	return ""
}

// cutOf is the cut that a file of a folder is a part of, the zero Key if it is none.
func cutOf(file string) (k lives.Key) {
	if strings.HasSuffix(file, ".cut") {
		_, _ = fmt.Sscanf(file, "life-%d-run-%d-round-%d", &k.Life, &k.Run, &k.Round) // all such files have these names
	}
	return k
}

// parts are the names of the parts of cuts.
func (d *disk) parts() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.files {
		if cutOf(name) != (lives.Key{}) {
			names = append(names, name)
		}
	}
	return names
}

// mount is a disk as a process sees it.
type mount struct {
	*disk
	p *process
}

// begin begins an operation. It fails if the process is killed. It waits while the process is stopped.
func (m mount) begin() error {
	m.mu.Lock()
	wait := time.Duration(0)
	if m.slow > 0 {
		wait = time.Duration(m.rng.Int64N(int64(m.slow)))
	}
	m.mu.Unlock()
	if wait > 0 {
		<-time.After(wait)
	}
	m.p.runs()
	return m.dead()
}

func (m mount) dead() error {
	if m.p.killed.Load() {
		return os.ErrProcessDone
	}
	return nil
}

// isFull reports whether nothing can be written.
func (m mount) isFull() bool {
	m.mu.Lock()
	full := m.full
	m.mu.Unlock()
	m.p.world.reach(full, "the disk is full while a cut is written")
	return full
}

// Path implements folder.Disk.
func (m mount) Path(name string) string { return "disk/" + name }

// Make implements folder.Disk.
func (m mount) Make() error { return m.begin() }

// List implements folder.Disk.
func (m mount) List() ([]string, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.files)), nil
}

// Open implements folder.Disk.
func (m mount) Open(name string) (io.ReadCloser, int64, error) {
	if err := m.begin(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.files[name]
	if c == nil {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(bytes.Clone(c.written))), int64(len(c.written)), nil
}

// Create implements folder.Disk.
func (m mount) Create(name string) (folder.File, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	if m.isFull() {
		return nil, syscall.ENOSPC
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := new(contents)
	m.changes(func(names map[string]*contents) { names[name] = c })
	return written{m, c}, nil
}

// Rename implements folder.Disk.
func (m mount) Rename(from, to string) error {
	if err := m.begin(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.files[from]
	if c == nil {
		return fs.ErrNotExist
	}
	m.changes(func(names map[string]*contents) {
		delete(names, from)
		names[to] = c
	})
	return nil
}

// Remove implements folder.Disk.
func (m mount) Remove(name string) error {
	if err := m.begin(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files[name] == nil {
		return fs.ErrNotExist
	}
	m.changes(func(names map[string]*contents) { delete(names, name) })
	return nil
}

// Sync implements folder.Disk.
func (m mount) Sync() error {
	if err := m.begin(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lies != "names" {
		m.synced, m.change = maps.Clone(m.files), nil
	}
	return nil
}

// Lock implements folder.Disk. The end of a process frees its locks.
func (m mount) Lock(name string) (io.Closer, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.locked[name]; p != nil && !p.killed.Load() {
		return nil, folder.ErrInUse
	}
	m.locked[name] = m.p
	return unlock{m, name}, nil
}

type unlock struct {
	mount
	name string
}

// Close implements io.Closer.
func (u unlock) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.locked[u.name] == u.p {
		delete(u.locked, u.name)
	}
	return nil
}

// written is a file that is being written.
type written struct {
	mount
	*contents
}

// Write implements folder.File. The process may be killed in the middle.
func (f written) Write(b []byte) (int, error) {
	if err := f.begin(); err != nil {
		return 0, err
	}
	half := len(b) / 2
	f.append(b[:half])
	f.p.world.happens(f.p, "write")
	if err := f.dead(); err != nil {
		f.p.world.reach(true, "a process is killed while it writes a part")
		return half, err
	}
	if f.isFull() {
		return half, syscall.ENOSPC
	}
	f.append(b[half:])
	return len(b), nil
}

func (f written) append(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written = append(f.written, b...)
}

// Sync implements folder.File.
func (f written) Sync() error {
	if err := f.begin(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lies != "contents" {
		f.synced = bytes.Clone(f.written)
	}
	return nil
}

// Close implements folder.File.
func (f written) Close() error { return f.begin() }
