package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// memory is a disk in memory. It notes what is done to it, and fails when it is told to.
type memory struct {
	files   map[string]*bytes.Buffer
	locked  map[string]bool
	done    []operation
	made    int                     // files
	reading int                     // files that are open
	kept    []lives.Key             // the cuts for which Keep was called
	over    bool                    // the run has finished
	before  func()                  // each operation; may be nil
	fail    func(what string) error // before an operation; may be nil
}

func newMemory() *memory {
	return &memory{files: make(map[string]*bytes.Buffer), locked: make(map[string]bool)}
}

// operation is what was done to the disk, or to a file on it.
type operation struct {
	what     string // create, write, sync; rename, remove, names; end
	file     int    // which one, in the order of their creation
	name, to string
	bytes    []byte
	kept     []lives.Key // before
	over     bool
}

// begins begins an operation, unless it fails.
func (m *memory) begins(what string) error {
	if m.before != nil {
		m.before()
	}
	if m.fail != nil {
		return m.fail(what)
	}
	return nil
}

// note notes an operation that has not failed.
func (m *memory) note(o operation) {
	o.kept, o.over = slices.Clone(m.kept), m.over
	m.done = append(m.done, o)
}

func (m *memory) Path(name string) string { return "disk/" + name }

func (m *memory) Make() error { return nil }

func (m *memory) List() ([]string, error) {
	if err := m.begins("list"); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(m.files)), nil
}

func (m *memory) Open(name string) (io.ReadCloser, int64, error) {
	if err := m.begins("open"); err != nil {
		return nil, 0, err
	}
	f := m.files[name]
	if f == nil {
		return nil, 0, fs.ErrNotExist
	}
	m.reading++
	return readFile{bytes.NewReader(f.Bytes()), m}, int64(f.Len()), nil
}

// readFile is a file that is being read.
type readFile struct {
	*bytes.Reader
	memory *memory
}

func (f readFile) Close() error {
	f.memory.reading--
	return nil
}

func (m *memory) Create(name string) (File, error) {
	if err := m.begins("create"); err != nil {
		return nil, err
	}
	m.note(operation{what: "create", file: m.made, name: name})
	f := &memoryFile{memory: m, number: m.made}
	m.files[name] = &f.Buffer
	m.made++
	return f, nil
}

func (m *memory) Rename(from, to string) error {
	if err := m.begins("rename"); err != nil {
		return err
	}
	m.note(operation{what: "rename", name: from, to: to})
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *memory) Remove(name string) error {
	if err := m.begins("remove"); err != nil {
		return err
	}
	if m.files[name] == nil {
		return fs.ErrNotExist
	}
	delete(m.files, name)
	m.note(operation{what: "remove", name: name})
	return nil
}

func (m *memory) Sync() error {
	if err := m.begins("names"); err != nil {
		return err
	}
	m.note(operation{what: "names"})
	return nil
}

func (m *memory) Lock(name string) (io.Closer, error) {
	if m.locked[name] {
		return nil, ErrInUse
	}
	m.locked[name] = true
	return unlock(func() { delete(m.locked, name) }), nil
}

type unlock func()

func (u unlock) Close() error { u(); return nil }

// memoryFile is a file that is being written.
type memoryFile struct {
	bytes.Buffer
	memory *memory
	number int
	closed bool
}

func (f *memoryFile) Write(b []byte) (int, error) {
	err := f.memory.begins("write")
	if err != nil {
		b = b[:len(b)/2] // a full disk takes some of it
	}
	f.memory.note(operation{what: "write", file: f.number, bytes: bytes.Clone(b)})
	f.Buffer.Write(b)
	return len(b), err
}

func (f *memoryFile) Sync() error {
	if err := f.memory.begins("sync"); err != nil {
		return err
	}
	f.memory.note(operation{what: "sync", file: f.number})
	return nil
}

func (f *memoryFile) Close() error {
	if f.closed {
		return errors.New("it is closed already")
	}
	f.closed = true
	return f.memory.begins("close")
}

// state is a disk that a machine may find after it failed.
type state struct {
	files map[string][]byte
	kept  []lives.Key // the cuts for which Keep had been called
	over  bool        // the run had finished
}

// disk is the disk of a state, for a new life of all processes.
func (s state) disk() *memory {
	m := newMemory()
	for name, b := range s.files {
		m.files[name] = bytes.NewBuffer(bytes.Clone(b))
	}
	return m
}

// left yields each disk that a machine may find after it failed at some moment of the operations.
//
// A change that was not synced may be there or not. Any of the names that have changed since the last sync of names may be the new
// ones. Of the bytes that were written to a file since its last sync, all may be there, or none, or half of them, or the file is
// as long and has zeros.
func (m *memory) left() iter.Seq[state] {
	type file struct{ synced, written []byte }
	variants := []func(file) []byte{
		func(f file) []byte { return f.synced },
		func(f file) []byte { return f.written },
		func(f file) []byte { return f.written[:(len(f.synced)+len(f.written))/2] },
		func(f file) []byte {
			return append(bytes.Clone(f.synced), make([]byte, len(f.written)-len(f.synced))...)
		},
	}
	return func(yield func(state) bool) {
		files := make(map[int]*file)
		now, synced := make(map[string]int), make(map[string]int) // names of files
		var pending []func(names map[string]int)
		seen := make(map[string]bool)
		states := func(o operation) bool {
			for some := range 1 << len(pending) {
				names := maps.Clone(synced)
				for i, change := range pending {
					if some>>i&1 > 0 {
						change(names)
					}
				}
				for _, variant := range variants {
					found := state{make(map[string][]byte), o.kept, o.over}
					for name, number := range names {
						found.files[name] = variant(*files[number])
					}
					key := fmt.Sprint(found)
					if !seen[key] && !yield(found) {
						return false
					}
					seen[key] = true
				}
			}
			return true
		}
		changes := func(change func(names map[string]int)) {
			change(now)
			pending = append(pending, change)
		}
		for _, o := range append(slices.Clip(m.done), operation{what: "end", kept: m.kept, over: m.over}) {
			if !states(o) {
				return
			}
			switch o.what {
			case "create":
				files[o.file] = new(file)
				changes(func(names map[string]int) { names[o.name] = o.file })
			case "write":
				files[o.file].written = append(files[o.file].written, o.bytes...)
			case "sync":
				files[o.file].synced = bytes.Clone(files[o.file].written)
			case "rename":
				number := now[o.name]
				changes(func(names map[string]int) {
					delete(names, o.name)
					names[o.to] = number
				})
			case "remove":
				changes(func(names map[string]int) { delete(names, o.name) })
			case "names":
				pending, synced = nil, maps.Clone(now)
			}
		}
	}
}
