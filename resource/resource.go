package resource

import (
	"context"

	"github.com/orwl/go-orwl/internal/queue"
)

// Resource is a lock and the bytes that it protects. It must not be copied.
//
// A grant sees everything that was done before the release that caused it.
type Resource queue.Resource

// of is the resource as the packages of this module see it. They convert it in the same way.
func of(r *Resource) *queue.Resource { return (*queue.Resource)(r) }

// Options configure a resource. The zero value is a good default.
type Options struct {
	// Memory, if not nil, makes the memory that the bytes lie in, size zeroed bytes at first. The default is Go's heap.
	Memory func(size int) (Store, error)
	// Guard, if not nil, allows relaxed access, and makes its lock: see orwl.NewGuard.
	Guard func() (queue.Guard, error)
}

// Store is memory for the bytes of a resource that its user makes: see [Options]. Only a caller that has the resource
// alone calls Resize.
type Store interface {
	// Bytes is the memory. It stays where it is, so that a slice of it shows later contents.
	Bytes() []byte
	// Resize keeps what fits. New bytes are zero. If it fails, nothing has changed.
	Resize(size int) error
}

// New makes a resource of size bytes, all zero. The name is for errors and reports. 0 is a lock without bytes.
func New(name string, size int) (*Resource, error) { return NewWith(name, size, Options{}) }

// NewWith is New with options.
func NewWith(name string, size int, o Options) (*Resource, error) {
	var q queue.Options
	if o.Guard != nil {
		q.Relaxed.Guard = func(string) (queue.Guard, error) { return o.Guard() }
	}
	if o.Memory != nil {
		q.Memory = func(size int) (queue.Store, error) { return o.Memory(size) }
	}
	r, err := queue.NewWith(name, size, q)
	return (*Resource)(r), err
}

// Name is the name given to New.
func (r *Resource) Name() string { return of(r).Name() }

// Size is the number of bytes at this moment, as this node knows it. It never waits.
func (r *Resource) Size() int { return of(r).Inspect().Size }

// Relaxed begins a relaxed access: for reading beside other readers, or for writing alone. It waits until the guard lets
// it in. All earlier writes are then visible.
//
//	in, err := r.Relaxed(ctx, resource.Write)
//	if err != nil {
//		return err
//	}
//	b := in.Bytes()
//	...
//	in.Leave()
//
// It takes no part in the FIFO order, and follows the leaf rule: a holder of an ordered grant makes no relaxed access, and
// a relaxed section waits for no ordered grant. The first relaxed access also waits for every request that
// was made before it, until that is acquired or cancelled. With the context of a task of package orwl, an access that
// breaks the rule fails at once. With any other context it may wait for ever.
func (r *Resource) Relaxed(ctx context.Context, m Mode) (Inside, error) {
	in, err := of(r).Relaxed(ctx, m)
	return Inside(in), err
}

// Inside is a relaxed access, from [Resource.Relaxed] to Leave. It is a value, so that an access allocates nothing. One
// goroutine uses it, once. If a panic before Leave is recovered elsewhere, the resource stays locked for good.
type Inside queue.Inside

// Bytes returns the resource's bytes. They are valid until Leave or Resize. A reader must not change them.
func (i Inside) Bytes() []byte { return queue.Inside(i).Bytes() }

// Resize changes the number of bytes, and returns them: the old bytes as far as they fit, then zeros. Slices of the old
// bytes keep their contents, except with Options.Memory.
func (i Inside) Resize(size int) ([]byte, error) { return queue.Inside(i).Resize(size) }

// Leave ends the access. If it was for writing, the bytes count as written.
func (i Inside) Leave() { queue.Inside(i).Leave() }

// Mode is the requested access mode: Read or Write.
type Mode = queue.Mode

const (
	// Read shares the resource with other readers.
	Read = queue.Read
	// Write excludes all others.
	Write = queue.Write
)

// The errors that a program may have an answer to. All others name the resource and say what to do.
var (
	// ErrLost is the end of a request by the loss of the node that keeps the resource.
	ErrLost = queue.ErrLost
	// ErrPriorHolderLost says that a writer failed or was lost. Its write is not there.
	ErrPriorHolderLost = queue.ErrPriorHolderLost
	// ErrPoisoned says that a writer failed or was lost, and that nothing was written since. The bytes may be half
	// written.
	ErrPoisoned = queue.ErrPoisoned
)
