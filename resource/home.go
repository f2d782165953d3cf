package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
)

// Line is the queue of a resource, as the home queues mirrors' requests up in it
// beside those of its own node. It answers by [Home.Granted], from inside of these
// calls or later.
type Line interface {
	// Request queues a request up.
	Request(ID, Mode)
	// Renew queues next up and then releases id; nothing comes in between.
	Renew(id, next ID, m Mode)
	// Release ends an access.
	Release(ID)
	// Cancel takes back a request that waits. It reports false if it no longer waits:
	// then Granted was called, or will be.
	Cancel(ID) bool
	// Alone reports whether nobody waits behind a request that is granted, nor came
	// between it and the one before of the same mirror. From then on the line calls
	// [Home.Wanted] when somebody does wait.
	Alone(ID) bool
	// Abort ends all waiting requests except those that the home queued. The line grants
	// nothing afterwards.
	Abort()
}

// Memory is where the home or a mirror keeps the bytes.
type Memory interface {
	// Bytes are all of them, good until the next Resize.
	Bytes() []byte
	// Resize keeps what fits and zeroes the rest.
	Resize(n int)
}

// fromMirrors marks the IDs that the home chooses.
const fromMirrors = 1 << 63

// Remote reports whether an ID in a [Line] is one that a [Home] has chosen for a
// mirror's request. The home's own node chooses others.
func (id ID) Remote() bool { return id&fromMirrors != 0 }

// Home is the home's half of the protocol between a resource's home and its
// mirrors, as a step function: messages in; messages, calls of its line and bytes
// in its memory out. It is used by one goroutine at a time.
//
//	mirror ──Request──▶ Home ──Request──▶ Line ◀── the home's own accesses
//	mirror ◀───Grant─── Home ◀──Granted── Line
//
// The order of requests is that in which their messages arrive.
//
// Bytes go to a mirror once for each version, with the first grant of it, which
// is sent as soon as the request's turn has come, whether or not its task is at
// the place where it acquires: that is what an announcement hides. They can go
// ahead of the grant only if nobody writes before it. To a reader they cannot:
// those before it in the line are writers, and with the release of the last one
// it is granted. To a writer behind a group of readers they can: that is what
// Next is for.
type Home struct {
	line   Line
	memory Memory
	ledger *Ledger
	o      HomeOptions

	peers   []*peer // by node
	over    Reason  // the resource is at its end, 0 if not
	tickets []ticket
	free    int // the first free ticket; those are linked by next
	granted []int
	next    int     // the ticket that Next named, or none
	lonely  int     // how many peers are alone
	wanted  bool    // by a request that waits
	batch   []*peer // which have something granted

	ids []ID      // of the messages of this call
	out []Message // of this call
}

// HomeOptions describe a home.
type HomeOptions struct {
	// Resource is in all messages.
	Resource uint64
	// Limit is the greatest size in bytes, a multiple of 8. The default is 1 GiB.
	Limit int
	// Allow reports whether a node may have an access. Nil permits all.
	Allow func(Node, Mode) bool
}

func (o HomeOptions) withDefaults() HomeOptions {
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	return o
}

func (o HomeOptions) validate() error { return checkLimit("HomeOptions", o.Limit) }

const defaultLimit = 1 << 30

// checkLimit reports what is wrong with the limit of some options, if anything.
func checkLimit(options string, limit int) error {
	if limit < 8 || limit%8 != 0 {
		return fmt.Errorf("resource: %s.Limit is %d: want a multiple of 8 from 8", options, limit)
	}
	return nil
}

// NewHome makes a home that has taken no message yet.
func NewHome(line Line, memory Memory, ledger *Ledger, o HomeOptions) (*Home, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Home{
		line: line, memory: memory, ledger: ledger, o: o,
		free: noTicket, next: noTicket,
	}, nil
}

// Step takes a mirror's message and appends the answers to out. An error is one of
// ErrReplayed, ErrOtherLife, ErrGap and ErrMalformed. Each says what to do.
func (h *Home) Step(m *Message, out []Message) ([]Message, error) {
	h.begin(out)
	p, err := h.admit(m)
	if err == nil {
		switch m.Kind {
		case RequestMessage:
			err = h.request(p, m)
		case RenewMessage, ReleaseMessage:
			err = h.release(p, m)
		case CancelMessage:
			err = h.cancel(p, m)
		case JoinMessage:
			p.known = m.Known
		case ConfirmMessage:
			h.to(p, ConfirmedMessage).Fence = m.Fence
		default:
			err = fmt.Errorf("%w: %v of node %d: the home does not take it", ErrMalformed, m, m.Node)
		}
	}
	if err == nil {
		p.got = m.Seq
	}
	return h.end(), err
}

// Granted says that the line has granted a mirror's request. It only notes it, so
// that it may be called from anywhere; Step, Lost and Flush send the grant, one
// for all requests of a node.
func (h *Home) Granted(id ID) {
	at := int(id &^ fromMirrors)
	switch t := &h.tickets[at]; t.state {
	case ticketWaits:
		t.state = ticketGranted
	case ticketOrphaned:
		t.state = ticketUnwanted
	default:
		return // the resource was aborted meanwhile
	}
	h.granted = append(h.granted, at)
}

// Next says that a request for writing waits behind nothing but readers, which
// are granted. Its node is sent the bytes now. The line calls it, and then Flush,
// while one of the readers holds.
func (h *Home) Next(id ID) { h.next = int(id &^ fromMirrors) }

// waits reports whether a request is not granted yet.
func (h *Home) waits(id ID) bool {
	at := int(id &^ fromMirrors)
	return at < len(h.tickets) && h.tickets[at].state == ticketWaits
}

// Flush appends the messages for what the line has said since the last call.
func (h *Home) Flush(out []Message) []Message {
	h.begin(out)
	return h.end()
}

func (h *Home) begin(out []Message) { h.out, h.ids = out, h.ids[:0] }

// end sends what is granted, and returns all messages of a call.
func (h *Home) end() []Message {
	if h.wanted {
		h.want()
	}
	// A release may grant more.
	for i := 0; i < len(h.granted); i++ {
		at := h.granted[i]
		switch t := &h.tickets[at]; t.state {
		case ticketUnwanted:
			h.forget(at)
			h.line.Release(ticketID(at))
		case ticketGranted:
			t.state = ticketTold
			if len(t.peer.granted) == 0 {
				h.batch = append(h.batch, t.peer)
			}
			t.peer.granted = append(t.peer.granted, at)
		}
	}
	h.granted = h.granted[:0]
	for _, p := range h.batch {
		h.grant(p)
	}
	h.batch = h.batch[:0]
	h.push()
	out := h.out
	h.out = nil
	return out
}

// mostGranted is how many requests one message grants.
const mostGranted = 4096

// grant sends a mirror the grant of all its requests that are granted now.
func (h *Home) grant(p *peer) {
	for all := p.granted; len(all) > 0; {
		n := min(len(all), mostGranted)
		h.grantSome(p, all[:n])
		all = all[n:]
	}
	p.granted = p.granted[:0]
}

func (h *Home) grantSome(p *peer, granted []int) {
	mode, from := h.tickets[granted[0]].mode, len(h.ids)
	invariant.Check(mode == Read || len(granted) == 1 && len(h.batch) == 1, "a writer is granted beside others")
	stamp := h.ledger.Grant(mode)
	for _, at := range granted {
		h.tickets[at].fence = stamp.Fence
		h.ids = append(h.ids, h.tickets[at].id)
	}
	m := h.to(p, GrantMessage)
	m.Mode, m.Stamp, m.IDs = mode, stamp, h.ids[from:len(h.ids):len(h.ids)]
	m.Alone = len(granted) == 1 && h.mayKeep(mode) && h.line.Alone(ticketID(granted[0]))
	h.setAlone(p, m.Alone)
	h.fill(p, m)
}

// push sends the writer that Next named the bytes, if it still waits.
func (h *Home) push() {
	at := h.next
	h.next = noTicket
	if at == noTicket || h.tickets[at].state != ticketWaits {
		return
	}
	if p := h.tickets[at].peer; p.known != h.ledger.Version()+1 {
		m := h.to(p, PushMessage)
		m.Version = h.ledger.Version()
		h.fill(p, m)
	}
}

// fill adds the bytes to a message, unless the mirror has them.
func (h *Home) fill(p *peer, m *Message) {
	version := h.ledger.Version() + 1
	if p.known == version {
		return
	}
	p.known = version
	m.Bytes = h.memory.Bytes()
	m.Whole, m.Size = true, len(m.Bytes)
}

// to appends a message to a mirror. It is good until the next one.
func (h *Home) to(p *peer, k Kind) *Message {
	p.sent++
	h.out = append(h.out, Message{
		Kind: k, Resource: h.o.Resource, Epoch: h.ledger.Epoch(),
		Node: p.node, Incarnation: p.incarnation, Seq: p.sent,
	})
	return &h.out[len(h.out)-1]
}

// refuse ends a mirror's request.
func (h *Home) refuse(p *peer, id ID, why Reason) {
	m := h.to(p, RefusedMessage)
	m.ID, m.Reason = id, why
}

// refuseLife ends all that a life of a mirror has requested.
func (h *Home) refuseLife(n Node, incarnation uint64, why Reason) {
	h.out = append(h.out, Message{
		Kind: RefusedMessage, Resource: h.o.Resource, Epoch: h.ledger.Epoch(),
		Node: n, Incarnation: incarnation, Reason: why,
	})
}
