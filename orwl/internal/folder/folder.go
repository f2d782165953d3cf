package folder

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// Folder is a folder that a process has open.
type Folder struct {
	disk     Disk
	lock     io.Closer
	program  uint64
	part     string                 // the file that is being written
	parts    map[string]lives.Found // by file: those that are verified
	unusable map[string]error       // by file
	whole    lives.Key              // of the last call of Keep
	before   lives.Key              // of the call before
	last     map[uint64]lives.Key   // by run: of the last call for it
}

// Open opens a folder on a disk for the process with a number in its run, and makes it if it is not there. Digest is a number of the program:
// only cuts of the same program are loaded. The error matches [ErrInUse] if a process with that number has the folder open.
//
// Open reads all parts that are there. [Folder.Look] has them.
func Open(d Disk, node int, digest uint64) (*Folder, error) {
	if err := d.Make(); err != nil {
		return nil, err
	}
	lock, err := d.Lock(process(node, lockEnding))
	if err != nil {
		return nil, err
	}
	f := &Folder{disk: d, lock: lock, program: digest, part: process(node, partEnding), parts: make(map[string]lives.Found), unusable: make(map[string]error), last: make(map[uint64]lives.Key)}
	if err = f.remove(f.part); err == nil {
		_, err = f.Look()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// Processors is for how many processors the program of the newest part in a folder was declared: 0 if that is not known. A program may divide its
// work by that, so it has to be known before the program is.
func Processors(d Disk) int {
	f := Folder{disk: d}
	names, _ := f.cuts() // Open returns the error
	for _, n := range names {
		from, size, err := d.Open(n.String())
		if err != nil {
			continue
		}
		r := reader{from: bufio.NewReader(from), left: size}
		p, _ := r.header(0) // it may be of any program
		_ = from.Close()    // it was only read
		if p.Processors > 0 {
			return p.Processors
		}
	}
	return 0
}

// Found is what a folder has.
type Found struct {
	Parts    []lives.Found // all that can be loaded, the newest cut first
	Unusable []error       // of files that are named as parts. Each names the file, and matches ErrDamaged or ErrOther
	Life     uint64        // the last one that a file is of, whether it can be used or not
}

// Look finds what is there now. It reads files that it has not seen before.
func (f *Folder) Look() (found Found, err error) {
	names, err := f.cuts()
	for _, n := range names {
		found.Life = max(found.Life, n.Life)
		p, bad := f.verify(n.String())
		switch {
		case errors.Is(bad, fs.ErrNotExist): // another node has removed it
		case bad != nil:
			found.Unusable = append(found.Unusable, bad)
		default:
			found.Parts = append(found.Parts, p)
		}
	}
	return found, err
}

// cuts are the files that are named as parts, the newest cut first. The folder forgets files that are not there any more.
func (f *Folder) cuts() (all []name, err error) {
	files, err := f.disk.List()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(f.parts, func(file string, _ lives.Found) bool { return !slices.Contains(files, file) })
	maps.DeleteFunc(f.unusable, func(file string, _ error) bool { return !slices.Contains(files, file) })
	for _, file := range files {
		if n, is := parseName(file); is {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b name) int {
		if c := b.Compare(a.Key); c != 0 {
			return c
		}
		return a.owner - b.owner
	})
	return all, nil
}

// verify is what is known of a file.
func (f *Folder) verify(file string) (lives.Found, error) {
	p, verified := f.parts[file]
	if bad := f.unusable[file]; verified || bad != nil {
		return p, bad
	}
	return f.read(file, nil)
}

// read reads a file, and remembers whether it can be used.
func (f *Folder) read(file string, take func(lives.Record)) (p lives.Found, err error) {
	from, size, err := f.disk.Open(file)
	if err == nil {
		p, err = read(from, size, f.program, take)
		_ = from.Close() // it was only read
	}
	if err == nil && nameOf(p.Held).String() != file {
		err = fmt.Errorf("%w: it was written as %s", ErrDamaged, nameOf(p.Held))
	}
	switch {
	case err == nil:
		f.parts[file] = p
		return p, nil
	case errors.Is(err, fs.ErrNotExist):
		return p, err
	case !errors.Is(err, ErrOther) && !errors.Is(err, ErrDamaged):
		err = fmt.Errorf("%w: %w", ErrDamaged, err) // a file that cannot be read is as good as damaged
	}
	f.unusable[file] = fmt.Errorf("%s: %w", f.disk.Path(file), err)
	return p, f.unusable[file]
}

// Load reads a part, and verifies it again. The records have the order of their tasks.
func (f *Folder) Load(h lives.Held) (records []lives.Record, err error) {
	p, err := f.read(nameOf(h).String(), func(r lives.Record) { records = append(records, r) })
	if err == nil && p.Held != h {
		err = fmt.Errorf("%w: %s has %d tasks, want %d", ErrDamaged, f.disk.Path(nameOf(h).String()), p.Tasks, h.Tasks)
	}
	if err != nil {
		return nil, err
	}
	return records, nil
}

// Save writes a part. It is on the disk when Save returns nil. Only the owner of a part saves it. An error removes no other part, and
// Save may be called again.
func (f *Folder) Save(p lives.Found, records []lives.Record) error {
	if len(records) != p.Tasks {
		panic(fmt.Sprintf("folder: %d records of %d tasks", len(records), p.Tasks))
	}
	file := nameOf(p.Held).String()
	if err := f.save(file, p, records); err != nil {
		_ = f.remove(f.part) // the first error counts
		return fmt.Errorf("%s is not saved: %w", f.disk.Path(file), err)
	}
	delete(f.unusable, file)
	f.parts[file] = p
	return nil
}

// save gives a file its name when it is whole. The order of its steps is what makes a file that has its name whole.
func (f *Folder) save(file string, p lives.Found, records []lives.Record) error {
	to, err := f.disk.Create(f.part)
	if err != nil {
		return err
	}
	if err = write(to, f.program, p, records); err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err := f.disk.Rename(f.part, file); err != nil {
		return err
	}
	return f.disk.Sync()
}

// Keep says that a cut is whole: the owner of each part has saved it. It removes what is older than this cut and the one of the
// call before, so that two whole cuts stay. The last one of each former run of the program stays, too. A run that begins from a cut in the folder
// calls Keep with that cut first.
func (f *Folder) Keep(whole lives.Key) error {
	if whole != f.whole {
		f.before, f.whole = f.whole, whole
	}
	f.last[whole.Run] = whole
	return f.removeIf(func(n name) bool {
		last, known := f.last[n.Run]
		old := n.Compare(f.whole) < 0 && n.Compare(f.before) < 0
		return old && known && n.Key != last
	})
}

// removeIf removes parts of this program.
func (f *Folder) removeIf(is func(name) bool) error {
	names, errs := f.cuts()
	for _, n := range names {
		if file := n.String(); is(n) && !errors.Is(f.unusable[file], ErrOther) {
			errs = errors.Join(errs, f.remove(file))
		}
	}
	return errs
}

// remove removes a file, if it is there.
func (f *Folder) remove(file string) error {
	if err := f.disk.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close lets go of the folder. If the run has finished on all nodes, it removes their parts first: the next run begins anew.
func (f *Folder) Close(finished bool) (errs error) {
	if finished {
		errs = f.clear()
	}
	return errors.Join(errs, f.lock.Close())
}

// clear removes all parts of this program, and what processes of former runs were writing.
func (f *Folder) clear() error {
	errs := f.removeIf(func(name) bool { return true })
	files, err := f.disk.List()
	errs = errors.Join(errs, err)
	for _, file := range files {
		if isTemporary(file) {
			errs = errors.Join(errs, f.remove(file))
		}
	}
	return errors.Join(errs, f.disk.Sync())
}
