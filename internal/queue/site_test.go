package queue

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// parcel is a message under way.
type parcel struct {
	header, bulk []byte
	lasting      bool
	sum          uint64 // of a bulk that lasts, as it was sent
}

// network is sites joined by two lanes in each direction between any two of them. The
// messages of a lane keep their order. A test says which lane moves.
type network struct {
	sites []*Site
	lanes map[lane][]parcel
	size  int                        // of a bulk that takes the lane for data
	sent  func(m *coherence.Message) // told of each message, while its sender has its mutex
}

// lane is one between two nodes.
type lane struct {
	from, to Node
	data     bool
}

// port is a site's end of it.
type port struct {
	n    *network
	from Node
}

func (p port) Post(to Node, header, bulk []byte, lasting bool) error {
	return p.Send(to, header, bulk, lasting)
}

func (p port) Send(to Node, header, bulk []byte, lasting bool) error {
	m := parcel{header: slices.Clone(header), bulk: bulk, lasting: lasting, sum: sum(bulk)}
	if !lasting {
		m.bulk = slices.Clone(bulk)
	}
	l := lane{p.from, to, len(bulk) >= p.n.size}
	p.n.lanes[l] = append(p.n.lanes[l], m)
	if p.n.sent != nil {
		msg, err := parsed(header)
		if err != nil {
			return err
		}
		p.n.sent(&msg)
	}
	return nil
}

func sum(b []byte) (s uint64) {
	for i, x := range b {
		s = s*31 + uint64(x) + uint64(i)
	}
	return s
}

// newNetwork joins so many sites.
func newNetwork(nodes int, o SiteOptions) *network {
	n := &network{lanes: make(map[lane][]parcel), size: 1}
	for i := range nodes {
		n.sites = append(n.sites, n.newSite(Node(i), nodes, o))
	}
	return n
}

func (n *network) newSite(node Node, nodes int, o SiteOptions) *Site {
	o.Node, o.Nodes, o.Transport = node, nodes, port{n, node}
	s, err := NewSite(o)
	if err != nil {
		panic(err)
	}
	return s
}

// move delivers the oldest message of a lane.
func (n *network) move(l lane) error {
	q := n.lanes[l]
	m := q[0]
	if n.lanes[l] = q[1:]; len(q) == 1 {
		delete(n.lanes, l)
	}
	if sum(m.bulk) != m.sum {
		panic(violation("bytes from %d to %d were changed under way", l.from, l.to))
	}
	return deliver(n.sites[l.to], l.from, m.header, m.bulk)
}

// deliver delivers a message in memory that the site may keep. It spoils the memory that it
// gets back: the site must not use that any more.
func deliver(s *Site, from Node, header, bulk []byte) error {
	own, housed := alignedBytes((len(bulk) + 7) &^ 7)[:len(bulk)], s.o.Memory != nil && len(bulk) >= housed
	if housed {
		own = s.o.Memory.Make(len(bulk))
	}
	copy(own, bulk)
	other, err := s.Deliver(from, header, Bulk{Bytes: own, Swap: true})
	for i := range other {
		other[i] = 0xdb
	}
	if housed && len(other) > 0 {
		s.o.Memory.Free(other)
	}
	return err
}

// busy are the lanes that something is on, in a fixed order.
func (n *network) busy() []lane {
	var all []lane
	for l := range n.lanes {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b lane) int {
		key := func(l lane) int { return int(l.from)<<9 | int(l.to)<<1 | map[bool]int{true: 1}[l.data] }
		return key(a) - key(b)
	})
	return all
}

// settle moves everything.
func (n *network) settle(t testing.TB) {
	t.Helper()
	for all := n.busy(); len(all) > 0; all = n.busy() {
		if err := n.move(all[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// share makes a resource on every node, with its home on one.
func (n *network) share(t testing.TB, name string, size int, home Node, o Options) []*Resource {
	t.Helper()
	all := make([]*Resource, len(n.sites))
	for i, s := range n.sites {
		r, err := NewWith(name, size, o)
		if err == nil && Node(i) == home {
			err = s.Home(r)
		} else if err == nil {
			err = s.Mirror(r, home)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[i] = r
	}
	return all
}

// Bytes go to and fro: a write there is read here, and the other way round.
func TestSiteMovesBytes(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	r := n.share(t, "r", 16, 0, Options{})
	ctx := t.Context()
	for turn := range 30 {
		at := turn % 3
		var w Place
		fine(t, w.Request(r[at], Write))
		n.settle(t)
		fine(t, w.Acquire(ctx))
		b, err := w.Writable()
		fine(t, err)
		b[turn%16] = byte(turn)
		if w.Version() != uint64(turn) || w.Fence() != uint64(turn)+1 {
			t.Fatalf("turn %d: version %d, fence %d", turn, w.Version(), w.Fence())
		}
		fine(t, w.Release())
		n.settle(t)
		var readers [3]Place
		for i := range readers {
			fine(t, readers[i].Request(r[i], Read))
		}
		n.settle(t)
		for i := range readers {
			fine(t, readers[i].Acquire(ctx))
			b, err := readers[i].Bytes()
			fine(t, err)
			for k := max(0, turn-15); k <= turn; k++ {
				if b[k%16] != byte(k) {
					t.Fatalf("turn %d, node %d: %v", turn, i, b)
				}
			}
			fine(t, readers[i].Release())
		}
		n.settle(t)
	}
}

// An iteration of a remote pair is one message there and one back.
func TestSitePairTakesOneRoundTrip(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	var p Place
	fine(t, p.Request(r[1], Write))
	n.settle(t)
	for range 10 {
		fine(t, p.Acquire(t.Context()))
		before := [2]uint64{n.sites[0].Counts().Sent, n.sites[1].Counts().Sent}
		fine(t, p.Renew())
		n.settle(t)
		after := [2]uint64{n.sites[0].Counts().Sent, n.sites[1].Counts().Sent}
		if after[0]-before[0] != 1 || after[1]-before[1] != 1 {
			t.Fatalf("%v messages before, %v after", before, after)
		}
	}
}

// A node that is lost leaves all queues, and its own places are told.
func TestSiteLoss(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	ctx := t.Context()
	var w, waits, here Place
	fine(t, w.Request(r[1], Write))
	fine(t, waits.Request(r[1], Read))
	n.settle(t)
	fine(t, here.Request(r[0], Read))
	fine(t, w.Acquire(ctx))
	b, err := w.Writable()
	fine(t, err)
	b[0] = 9
	why := errors.New("cable pulled")
	n.sites[0].Lost(1, why)
	n.sites[1].Lost(0, why)
	clear(n.lanes)
	fine(t, here.Acquire(ctx))
	if err := here.Prior(); !errors.Is(err, ErrPriorHolderLost) {
		t.Errorf("after the loss of a writer: %v", err)
	}
	if b, _ := here.Bytes(); b[0] != 0 {
		t.Error("what the lost writer wrote is there")
	}
	if err := waits.Acquire(ctx); !errors.Is(err, ErrLost) || !errors.Is(err, why) {
		t.Errorf("who waits gets %v", err)
	}
	if _, err := w.Bytes(); !errors.Is(err, ErrLost) {
		t.Errorf("a view of what is lost: %v", err)
	}
	if err := w.Release(); !errors.Is(err, ErrStale) || !errors.Is(err, ErrLost) || w.Held() {
		t.Errorf("release of what is lost: %v", err)
	}
	fine(t, waits.Cancel())
	if err := w.Request(r[1], Write); !errors.Is(err, ErrLost) {
		t.Errorf("request at a lost home: %v", err)
	}
	n.sites[1].Back(0, 1)
	fine(t, w.Request(r[1], Write))
	fine(t, here.Release())
	n.settle(t)
	fine(t, w.Acquire(ctx))
	if b, _ := w.Bytes(); b[0] != 0 {
		t.Error("what the lost writer wrote is there, at its node")
	}
	fine(t, w.Release())
	n.settle(t)
}

// Requests at the home may be taken back, whether they wait or not.
func TestSiteCancels(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	var a, b, c, d Place
	fine(t, a.Request(r[0], Write))
	fine(t, a.Cancel())
	fine(t, b.Request(r[0], Write))
	fine(t, c.Request(r[0], Write))
	fine(t, d.Request(r[0], Write))
	fine(t, c.Cancel())
	if !b.Granted() || d.Granted() {
		t.Fatalf("b is granted: %t, d: %t", b.Granted(), d.Granted())
	}
	fine(t, b.Cancel())
	fine(t, d.Acquire(t.Context()))
	fine(t, d.Release())
	if q, c := r[0].requested.Load()&^flags, r[0].completed.Load()&^flags; q != c {
		t.Errorf("%#x requested, %#x completed", q, c)
	}
}

// A resource that breaks at its home is broken everywhere, for waiters and holders.
func TestSiteBreaks(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	var holds, waits Place
	fine(t, holds.Request(r[1], Write))
	n.settle(t)
	fine(t, holds.Acquire(t.Context()))
	fine(t, waits.Request(r[1], Read))
	n.settle(t)
	r[0].Break(errFire)
	n.settle(t)
	if err := waits.Acquire(t.Context()); !errors.Is(err, ErrBroken) {
		t.Errorf("waiting: %v", err)
	}
	fine(t, waits.Cancel())
	if err := holds.Release(); !errors.Is(err, ErrBroken) {
		t.Errorf("release: %v", err)
	}
	if err := waits.Request(r[1], Read); !errors.Is(err, ErrBroken) {
		t.Errorf("request: %v", err)
	}
}

// A resource that breaks at a mirror is broken there.
func TestSiteBreaksAtMirror(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, Options{})
	var holds, waits, late, home Place
	fine(t, holds.Request(r[1], Write))
	n.settle(t)
	fine(t, holds.Acquire(t.Context()))
	fine(t, waits.Request(r[1], Read))
	fine(t, home.Request(r[0], Write))
	n.settle(t)
	r[1].Break(errFire)
	fine(t, late.Request(r[1], Read))
	for _, p := range []*Place{&waits, &late} {
		if err := p.Acquire(t.Context()); !errors.Is(err, errFire) || !p.Granted() {
			t.Errorf("got %v", err)
		}
		fine(t, p.Cancel())
	}
	fine(t, holds.Renew())
	if err := holds.Acquire(t.Context()); !errors.Is(err, errFire) {
		t.Errorf("got %v", err)
	}
	fine(t, holds.Cancel())
	n.settle(t)
	fine(t, home.Acquire(t.Context()))
	fine(t, home.Release())
}

// Messages for a resource that is declared later wait for it.
func TestSiteDeclaredLater(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r0, r1 := newResource(t, 8), newResource(t, 8)
	fine(t, n.sites[1].Mirror(r1, 0))
	var p, q Place
	fine(t, p.Request(r1, Write))
	fine(t, q.Request(r1, Read))
	n.settle(t)
	if p.Granted() {
		t.Fatal("granted by nobody")
	}
	fine(t, n.sites[0].Home(r0))
	n.settle(t)
	fine(t, p.Acquire(t.Context()))
	fine(t, p.Release())
	n.settle(t)
	fine(t, q.Acquire(t.Context()))
	fine(t, q.Release())
	n.settle(t)
	if c := n.sites[0].Counts(); c.Strays != 2 || n.sites[0].budget.Used(1) != 0 {
		t.Errorf("%+v, %d bytes kept", c, n.sites[0].budget.Used(1))
	}
}

// found is the panic of a failed check.
type found string

func (f found) Error() string { return string(f) }

func violation(format string, args ...any) found { return found(fmt.Sprintf(format, args...)) }

// parsed is the message of a header.
func parsed(header []byte) (m coherence.Message, err error) {
	err = coherence.ParseInto(header, &m)
	return m, err
}

func second[T any](_ T, err error) error { return err }

// A node mirrors a resource that the others have used for long. It gets the bytes with its
// first grant, and has its turns as they do.
func TestMirrorLate(t *testing.T) {
	n := newNetwork(3, SiteOptions{})
	home, early, late := newResource(t, 8), newResource(t, 8), newResource(t, 8)
	fine(t, n.sites[0].Home(home))
	fine(t, n.sites[1].Mirror(early, 0))
	var p, q Place
	count := func(p *Place, want byte) {
		t.Helper()
		n.settle(t)
		fine(t, p.Acquire(t.Context()))
		b, err := p.Writable()
		fine(t, err)
		if b[0] != want {
			t.Errorf("it is %d, want %d", b[0], want)
		}
		b[0]++
		fine(t, p.Release())
		n.settle(t)
	}
	for i := range byte(3) {
		fine(t, p.Request(early, Write))
		count(&p, i)
	}
	fine(t, p.Request(early, Write))
	n.settle(t)
	fine(t, n.sites[2].Mirror(late, 0))
	fine(t, q.Request(late, Write))
	n.settle(t)
	var again Place
	fine(t, again.Request(early, Write))
	for i, p := range []*Place{&p, &q, &again} {
		count(p, byte(3+i))
	}
}
