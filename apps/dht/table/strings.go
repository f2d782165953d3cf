package table

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// Strings is a table of keys and values that are byte strings. Its methods may be
// called by any goroutine, on any node.
type Strings struct {
	o       Options
	node    int
	homes   []int                   // of the volumes
	volumes []*resource.Resource    // the volumes that this node keeps; nil for the others
	sights  []atomic.Pointer[sight] // of the volumes that this node keeps
	batches sync.Pool               // of *batch
	others  *exchange               // nil if there is no other node
}

// sight is where a volume is, or was a moment ago.
type sight struct {
	v       vol
	buckets uint64
}

// NewStrings makes a table, together with all other nodes of Options.Nodes, which call
// it too.
func NewStrings(ctx context.Context, o Options) (*Strings, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	memory, err := o.reserve()
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	nodes := o.Nodes.Count()
	t := &Strings{
		o: o, node: o.Nodes.Number(), homes: homesOf(o.Volumes, nodes),
		volumes: make([]*resource.Resource, o.Volumes), sights: make([]atomic.Pointer[sight], o.Volumes),
	}
	t.batches.New = func() any { return newBatch(o.Volumes + nodes) }
	for i, home := range t.homes {
		if home != t.node {
			continue
		}
		if err := t.keep(ctx, i, memory); err != nil {
			return nil, fmt.Errorf("table: %w", err)
		}
	}
	if nodes > 1 {
		if t.others, err = newExchange(ctx, o, t.serve); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// keep makes the resource of a volume that this node keeps.
func (t *Strings) keep(ctx context.Context, number int, memory func(int) (resource.Store, error)) error {
	r, err := resource.NewWith(fmt.Sprintf("volume %d", number), t.o.First, resource.Options{
		Memory: memory,
		Guard:  orwl.NewGuard(t.o.Guard),
	})
	if err != nil {
		return err
	}
	if t.o.Watch != nil {
		t.o.Watch(r)
	}
	in, err := r.Relaxed(ctx, resource.Write)
	if err != nil {
		return err
	}
	vol(in.Bytes()).format()
	t.show(number, in.Bytes())
	in.Leave()
	t.volumes[number] = r
	return nil
}

// reserve reserves addresses for the volumes that this node keeps, if Options.Memory says so.
func (o *Options) reserve() (func(size int) (resource.Store, error), error) {
	if o.Memory == nil {
		return nil, nil
	}
	kept := 0
	for _, home := range homesOf(o.Volumes, o.Nodes.Count()) {
		if home == o.Nodes.Number() {
			kept++
		}
	}
	if kept == 0 {
		return nil, nil
	}
	region, err := o.Memory.Reserve(kept, o.Most)
	if err != nil {
		return nil, err
	}
	o.Most = min(o.Most, region.Most())
	return func(size int) (resource.Store, error) { return region.Volume(size) }, nil
}

// Close leaves the table. The other nodes lose the keys that are kept here.
func (t *Strings) Close() error {
	if t.others == nil {
		return nil
	}
	return t.others.close(t.node)
}

// group is where an op on a key of a hash belongs in a batch: with the ops of its volume, or of
// its node.
func (t *Strings) group(hash uint64) int {
	v := volumeOf(hash, len(t.homes))
	if t.volumes[v] == nil {
		return len(t.homes) + t.homes[v]
	}
	return v
}

// check is what is wrong with an op, if anything.
func (o *Op) check() error {
	switch {
	case o.Kind == 0 || o.Kind >= kindEnd || o.If >= conditionEnd || o.Expires < 0:
		return ErrOp
	case o.Kind == Expire && o.If == Equal, o.Kind != Expire && (o.Later || o.Sooner):
		return ErrOp
	case len(o.Compare) > mostRecord || recordSize(len(o.Key), len(o.Value)) > mostRecord:
		return ErrTooLong
	}
	return nil
}

// Do executes ops, each atomically, with results[i] for ops[i]. Ops on one key keep their
// order, others do not. One access of a volume's lock serves all ops there, and one message all
// ops of a node, unless they are very large. Results must be as many as ops, and other
// goroutines must not use either meanwhile.
func (t *Strings) Do(ctx context.Context, ops []Op, results []Result) {
	if len(results) < len(ops) {
		panic(fmt.Sprintf("table: Do of %d ops with %d results", len(ops), len(results)))
	}
	if len(ops) == 1 && t.alone(ctx, &ops[0], &results[0]) {
		return
	}
	b := t.batches.Get().(*batch)
	for i := range ops {
		r := &results[i]
		*r = Result{Value: r.Value}
		if r.Err = ops[i].check(); r.Err != nil {
			b.skip()
			continue
		}
		hash := t.o.Hash(ops[i].Key)
		b.add(i, t.group(hash), hash, ops[i].writes())
	}
	if t.others == nil {
		t.near(ctx, b, ops, results)
	} else {
		all := byteOps{ops, results, &t.o}
		t.afar(ctx, b, all)
		t.near(ctx, b, ops, results)
		t.await(ctx, b)
	}
	b.clear()
	t.batches.Put(b)
}

// alone does a single op, if this node has its key.
func (t *Strings) alone(ctx context.Context, o *Op, r *Result) bool {
	*r = Result{Value: r.Value}
	if r.Err = o.check(); r.Err != nil {
		return true
	}
	hash := t.o.Hash(o.Key)
	home := t.volumes[volumeOf(hash, len(t.homes))]
	if home == nil {
		return false
	}
	in, err := home.Relaxed(ctx, modeOf(o.writes()))
	if err != nil {
		r.Err = err
		return true
	}
	if o.writes() {
		t.change(in, in.Bytes(), o, r, hash)
	} else {
		vol(in.Bytes()).look(o, r, hash, &t.o)
	}
	in.Leave()
	return true
}

// modeOf is the access mode for an op.
func modeOf(writes bool) resource.Mode {
	if writes {
		return resource.Write
	}
	return resource.Read
}

// show says where a volume is.
func (t *Strings) show(volume int, v vol) {
	t.sights[volume].Store(&sight{v, v.buckets()})
}

// touch has what the ops of a batch are about come into the cache, all of it at once:
// inside of the volumes, one after the other would wait for memory. It takes no lock, and
// believes nothing of what it reads.
func (t *Strings) touch(b *batch) {
	if !glimpses || len(b.hashes) < 2 {
		return
	}
	for _, hash := range b.hashes {
		s := t.sights[volumeOf(hash, len(t.sights))].Load()
		if s == nil {
			continue
		}
		if at := place(s.v.word(bucketAt(hash, s.buckets))); at < uint64(len(s.v))-8 {
			b.read += s.v.word(at)
		}
	}
}

// near does the ops on this node's volumes.
func (t *Strings) near(ctx context.Context, b *batch, ops []Op, results []Result) {
	t.touch(b)
	for _, group := range b.touched {
		if int(group) < len(t.homes) {
			t.inside(ctx, b, int(group), ops, results)
		}
	}
}

// inside does all ops of a batch in one volume.
func (t *Strings) inside(ctx context.Context, b *batch, group int, ops []Op, results []Result) {
	in, err := t.volumes[group].Relaxed(ctx, modeOf(b.groups[group].writes))
	if err != nil {
		for i := range b.each(group) {
			results[i].Err = err
		}
		return
	}
	v := vol(in.Bytes())
	for i := b.groups[group].head; i >= 0; i = b.next[i] {
		o, r := &ops[i], &results[i]
		if t.o.Memory != nil && b.values > mostValues && o.tells() {
			r.Err = ErrLater
		} else if o.writes() {
			v = t.change(in, v, o, r, b.hashes[i])
		} else {
			v.look(o, r, b.hashes[i], &t.o)
		}
		if r.Err == ErrLater {
			b.later(i, results)
			break
		}
		b.values += len(r.Value)
	}
	in.Leave()
}

// change does an op that may change the volume, and returns the volume as it is then.
func (t *Strings) change(in resource.Inside, v vol, o *Op, r *Result, hash uint64) vol {
	for {
		needs := v.change(o, r, hash, &t.o)
		if needs == 0 {
			if now := v.shrunk(in, &t.o); len(now) != len(v) {
				v = now
				t.show(volumeOf(hash, len(t.sights)), v)
			}
			return v
		}
		*r = Result{Value: r.Value}
		v, r.Err = makeRoom(in, v, needs, &t.o)
		t.show(volumeOf(hash, len(t.sights)), v)
		if r.Err != nil {
			return v
		}
	}
}

// Which volume a key is in, its hash says; and which node keeps a volume, rendezvous
// hashing: the one whose number, mixed with the volume's, is the greatest. With one node
// more, no volume moves but to that.

// volumeOf is the volume of a hash, by its upper bits: the lower ones choose a bucket.
func volumeOf(hash uint64, volumes int) int {
	high, _ := bits.Mul64(hash, uint64(volumes))
	return int(high)
}

// homesOf are the nodes of all volumes.
func homesOf(volumes, nodes int) []int {
	homes := make([]int, volumes)
	for i := range homes {
		homes[i] = homeOf(i, nodes)
	}
	return homes
}

// homeOf is the node of a volume.
func homeOf(volume, nodes int) (best int) {
	greatest := uint64(0)
	for node := range nodes {
		if w := mix(mix(uint64(volume)+1) ^ mix(^uint64(node))); w >= greatest {
			best, greatest = node, w
		}
	}
	return best
}

// mix is a bijection in which every bit counts everywhere (SplitMix64's last steps).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Kind is what an Op does.
type Kind uint8

// The kinds. Beside each stands what its Result says.
const (
	// Get is to know a value: Value, Found, Expires.
	Get Kind = iota + 1
	// Set gives a key a value, if Op.If holds. Op.Keep keeps the old expiry. Done says
	// whether it was set; with Op.Old, Value and Found are what was there before.
	Set
	// Delete takes a key away: Found.
	Delete
	// Add adds Op.Number to the decimal integer that the value is, 0 if there is none,
	// and keeps the expiry: Number is the sum. ErrNotInteger, ErrOverflow.
	Add
	// Append appends Op.Value to the value, and keeps the expiry: Number is the length
	// after it.
	Append
	// Length is how long the value is: Number, 0 if there is none; Found.
	Length
	// Expire sets when the key expires, 0 for never, if Op.If, Op.Later and Op.Sooner hold:
	// Found, Done; Expires is what it was before. With a moment that has passed the key is
	// absent from now on.
	Expire
	// Exists is to know of a key: Found, Expires.
	Exists

	kindEnd
)

// Condition is when a Set sets, and when an Expire does.
type Condition uint8

// The conditions.
const (
	// Always is no condition.
	Always Condition = iota
	// Absent is that there is no such key. For Expire: the key never expires.
	Absent
	// Present is that there is. For Expire: the key expires.
	Present
	// Equal is that there is, and that its value is Op.Compare. Only for Set.
	Equal

	conditionEnd
)

// Op is something to do with one key, atomically.
type Op struct {
	Kind    Kind
	If      Condition // of a Set or an Expire
	Keep    bool      // of a Set: the old expiry
	Old     bool      // of a Set: the old value is asked for
	Later   bool      // of an Expire: only if the key lives longer by it
	Sooner  bool      // of an Expire: only if the key expires earlier by it
	Key     []byte
	Value   []byte
	Compare []byte // the value that Equal compares with
	Number  int64
	Expires int64 // Unix milliseconds, 0 never
	// Peek, if not nil, is called with the value of a Get where it lies, if this node has the key. It says how many
	// bytes the caller has used up: Result.Value gets those behind. Peek must not wait, nor keep the value.
	Peek func(value []byte) (used int)
}

// allows reports whether the conditions of an Expire hold for a key that expires at a time.
func (o *Op) allows(expires int64) bool {
	switch {
	case o.If == Absent && expires != 0, o.If == Present && expires == 0:
		return false
	case o.Later && !later(o.Expires, expires), o.Sooner && !later(expires, o.Expires):
		return false
	}
	return true
}

// later reports whether a is later than b. Never, which is 0, is later than all times.
func later(a, b int64) bool { return b != 0 && (a == 0 || a > b) }

// writes reports whether the op may change something.
func (o *Op) writes() bool {
	switch o.Kind {
	case Get, Length, Exists:
		return false
	}
	return true
}

// tells reports whether the result may have a value.
func (o *Op) tells() bool { return o.Kind == Get || o.Old }

// Result is what became of an Op.
type Result struct {
	// Value is appended to what Value was, so that the caller's buffer is used again:
	// give buffer[:0]. The rest is set anew. A value that does not fit there, and that is longer
	// than LongValue, lies in a buffer of Options.Memory.
	Value   []byte
	Number  int64
	Expires int64 // Unix milliseconds, 0 never
	Found   bool
	Done    bool
	// Err concerns this op alone. The op has changed nothing then, unless Err is a
	// *NodeLostError or a context's: then it may have been done.
	Err error
}

// The errors of an op.
var (
	// ErrFull says that a volume has no room for the value.
	ErrFull = errors.New("table: volume is full: delete something, or give Options.Most more")
	// ErrTooLong is a key or a value that no volume takes.
	ErrTooLong = errors.New("table: key or value is too long")
	// ErrNotInteger is an Add to a value that is no decimal integer of 64 bits.
	ErrNotInteger = errors.New("table: value is not an integer of 64 bits")
	// ErrOverflow is an Add whose sum is no integer of 64 bits.
	ErrOverflow = errors.New("table: sum is not an integer of 64 bits")
	// ErrLater is an op that was not done, since other values of the same Do are long, or there is no room
	// for this one now: read them, give them back, and ask again. Ops on its key behind it are ErrLater, too. Only with
	// Options.Memory. A single op is ErrLater if there is no room for its value alone.
	ErrLater = errors.New("table: no room for the value now: ask again later")
	// ErrOp is an op that does not exist.
	ErrOp = errors.New("table: no such op: make it of the constants of Kind and Condition, with what these allow, and an expiry of 0 or later")
	// ErrClosed is the use of a table that was closed.
	ErrClosed = errors.New("table: closed")
)

// NodeLostError says that the node of the key is lost. A write may or may not have been done
// before.
type NodeLostError struct {
	Node int
	Why  error
}

func (e *NodeLostError) Error() string {
	return fmt.Sprintf("table: node %d, which has the key, is lost: %v", e.Node, e.Why)
}

// Unwrap is why.
func (e *NodeLostError) Unwrap() error { return e.Why }
