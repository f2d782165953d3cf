package versions

import (
	"slices"
	"sync"

	"github.com/orwl/go-orwl/internal/invariant"
)

// outbox has all that waits for another node. Its lock protects its fields, and the fields of its links.
type outbox struct {
	mu      sync.Mutex
	credits []credit // the reads that the node is told of
	due     []uint32 // the credits that wait
	ready   []*link  // the links that have something to send
	named   bool     // a Work has named the node, and Pass has not found the box empty since
}

// credit is how many rounds a read has released.
type credit struct {
	counter uint32
	round   uint32
	ended   bool
	due     bool
}

// link is the versions of a resource for a node. One that waits is joined by the next one:
//
//	idle ──note──▶ waits: base, version, spans, bytes ──Pass──▶ idle, and one more is on its way
//	                 └──note──▶ waits: the same base, the later version, more spans
//
// At most mostInFlight are on their way. Then the next one waits until the node has shown that it has one of them.
type link struct {
	resource *resource
	to       int
	box      *outbox

	waits   bool
	base    Version // the version that the node needs before
	version Version // 0: only the ends of accesses wait
	size    int
	writes  int // the writes that have joined
	idle    int // the writes that have changed nothing
	changed spans
	buffer  []byte   // the bytes of changed, each at its place
	reports []report // the reports that come with these versions

	inFlight [mostInFlight]Version // on their way
	n        int
	sent     Version // the last one
	answer   Version // the node asked to hear that it is here; 0: it did not
	queued   bool    // in ready
}

// writes counts the writes of a version since its base.
type writes struct {
	all, idle int // idle ones have changed nothing
}

// report is what a write says of itself beside its bytes.
type report struct {
	position uint32
	round    uint32
	state    State
}

// version is the version that comes with it.
func (h report) version() Version { return version(h.round, h.position) }

// note has a version wait for the node of the link, or no version and the end of an access. It takes the bytes from the
// copy. The resource is locked.
func (l *link) note(base, version Version, n writes, changed []Span, reports []report, w *Work) {
	l.box.mu.Lock()
	invariant.Check(!l.waits || l.version == 0 || version == 0 || l.version == base, "%v after %v joins %v", version, base, l.version)
	switch {
	case !l.waits:
		l.waits, l.reports = true, l.reports[:0]
		l.begin(base, version)
	case l.version == 0:
		l.begin(base, version)
	case version != 0:
		l.version = version
	}
	if version != 0 {
		l.writes += n.all
		l.idle += n.idle
		l.change(changed)
	}
	for _, h := range reports {
		l.report(h)
	}
	l.queue(w)
	l.box.mu.Unlock()
}

// begin has nothing wait but a version.
func (l *link) begin(base, version Version) {
	l.base, l.version, l.size = base, version, l.resource.size
	l.writes, l.idle = 0, 0
	l.changed.reset()
}

// report adds a report, if none of its access is later: the end of an access may come after versions of it.
func (l *link) report(h report) {
	i := slices.IndexFunc(l.reports, func(o report) bool { return o.position == h.position })
	switch {
	case i < 0:
		l.reports = append(l.reports, h)
	case h.round >= l.reports[i].round:
		l.reports[i] = h
	}
}

// change adds spans that have changed, and takes all changed bytes from the copy. The copy also has the bytes
// that changed in the version that waits. A version of another size has changed all bytes.
func (l *link) change(changed []Span) {
	b, size := l.resource.copy.Bytes(), l.resource.size
	if l.size != size {
		l.size = size
		l.changed.reset()
	}
	for _, s := range changed {
		l.changed.add(s)
	}
	if len(l.buffer) < size {
		l.buffer = make([]byte, size)
	}
	for _, s := range l.changed.all {
		copy(l.buffer[s.Off:], b[s.Off:s.Off+s.Len])
	}
}

// queue puts a link that has something to send into the outbox.
func (l *link) queue(w *Work) {
	if l.queued || l.answer == 0 && !l.sends() {
		return
	}
	l.queued = true
	l.box.ready = append(l.box.ready, l)
	l.box.tell(l.to, w)
}

// sends reports whether a version may leave.
func (l *link) sends() bool { return l.waits && l.n < mostInFlight }

// tell names the node, once until the box is empty.
func (b *outbox) tell(node int, w *Work) {
	if !b.named {
		b.named = true
		w.Nodes = append(w.Nodes, node)
	}
}

// arrived notes that the node has a version. It reports whether the node can have it: not if it waits here.
func (l *link) arrived(v Version, w *Work) bool {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.waits && l.version != 0 && l.version <= v {
		return false
	}
	gone := 0
	for gone < l.n && l.inFlight[gone] <= v {
		gone++
	}
	copy(l.inFlight[:], l.inFlight[gone:l.n])
	l.n -= gone
	l.queue(w)
	return true
}

// wasSent reports whether a version has left.
func (l *link) wasSent(v Version) bool {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	return v <= l.sent
}

// mustAnswer has the node hear that a version is here.
func (l *link) mustAnswer(v Version, w *Work) {
	l.box.mu.Lock()
	l.answer = max(l.answer, v)
	l.queue(w)
	l.box.mu.Unlock()
}

// credit notes a round of a read.
func (b *outbox) credit(t listener, round uint32, ended bool, w *Work) {
	b.mu.Lock()
	c := &b.credits[t.credit]
	c.round, c.ended = round, ended
	if !c.due {
		c.due = true
		b.due = append(b.due, t.credit)
		b.tell(int(t.node), w)
	}
	b.mu.Unlock()
}

// Pass appends what waits for a node to a header and a bulk, as one message. It reports whether there was something.
// Call it again after each message: until it says that there was nothing, no Work names the node again.
func (n *Node) Pass(to int, header, bulk []byte) (h, b []byte, ok bool) {
	box := &n.boxes[to]
	box.mu.Lock()
	defer box.mu.Unlock()
	if len(box.due) == 0 && len(box.ready) == 0 {
		box.named = false
		return header, bulk, false
	}
	begin, entries := len(header), 0
	header = beginHeader(header, n.o.Run)
	enough, most, taken := len(header)+n.header, len(bulk)+n.bulk, 0
	for _, i := range box.due {
		if len(header) >= enough {
			break
		}
		c := &box.credits[i]
		header, c.due = appendCredit(header, c), false
		taken++
	}
	box.due = slices.Delete(box.due, 0, taken)
	entries, taken = taken, 0
	for _, l := range box.ready {
		if len(header) >= enough || l.sends() && len(bulk)+l.changed.bytes() > most {
			break
		}
		if l.answer != 0 {
			header, l.answer = appendTaken(header, l.resource.number, l.answer), 0
			entries++
		}
		if l.sends() {
			header, bulk = l.pass(header, bulk)
			entries++
		}
		l.queued = false
		taken++
	}
	box.ready = slices.Delete(box.ready, 0, taken)
	endHeader(header[begin:], entries)
	return header, bulk, true
}

// pass appends the version that waits. The last ones that may be on their way ask to hear of it: then what waits
// behind them leaves some time.
func (l *link) pass(header, bulk []byte) (h, b []byte) {
	if l.version == 0 { // an end comes behind all versions that were sent before it
		l.base, l.version = l.sent, l.sent
	}
	invariant.Check(l.n == 0 || l.inFlight[l.n-1] <= l.version, "%v after %v", l.version, l.inFlight[:l.n])
	l.inFlight[l.n] = l.version
	l.n++
	l.sent, l.waits = l.version, false
	header = l.appendVersion(header, l.n >= mostInFlight-1)
	for _, s := range l.changed.all {
		bulk = append(bulk, l.buffer[s.Off:s.Off+s.Len]...)
	}
	return header, bulk
}
