package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// A world hears what its processes say, and which messages about cuts they get. So it knows when a rare state is there, and its faults may
// come in the middle of it.

// network is the network of a process.
type network struct {
	node.Network
	p *process
}

// Join implements node.Network.
func (n network) Join(ctx context.Context, o node.Options) (node.Node, error) {
	m, err := n.Network.Join(ctx, o)
	if err != nil {
		return nil, err
	}
	return member{m, n.p}, nil
}

// member is a node whose messages the world hears.
type member struct {
	node.Node
	p *process
}

// Again implements node.Node.
func (m member) Again(ctx context.Context) (node.Node, error) {
	again, err := m.Node.Again(ctx)
	if err != nil {
		return nil, err
	}
	return member{again, m.p}, nil
}

// cutChannel is the channel of messages about cuts: see package orwl. A life has channels of its own.
const cutChannel = 6

// Receive implements node.Node.
func (m member) Receive(channel uint64, r node.Receiver) error {
	life := channel >> 32
	m.p.mu.Lock()
	m.p.channels = max(m.p.channels, life)
	m.p.mu.Unlock()
	hears := func(header, bulk []byte) []byte {
		m.p.mu.Lock()
		late := life < m.p.channels
		m.p.mu.Unlock()
		m.p.world.reach(late, "a message of a former life comes late")
		if !late && channel&math.MaxUint32 == cutChannel {
			m.p.gets(header, bulk)
			bulk = m.p.older(header, bulk)
		}
		if m.p.world.lies == "copies" && channel&math.MaxUint32 == cutChannel && len(bulk) > 0 {
			bulk = bytes.Clone(bulk)
			bulk[0] ^= 1
		}
		return bulk
	}
	heard := r
	heard.Take = func(from int, header, bulk []byte) error {
		if channel&math.MaxUint32 == cutChannel && m.p.comesLater(header, bulk, func(header, bulk []byte) {
			_ = r.Take(from, header, hears(header, bulk)) // no node of a world sends what is malformed
		}) {
			return nil
		}
		return r.Take(from, header, hears(header, bulk))
	}
	if r.Swap != nil {
		heard.Swap = func(from int, header, bulk []byte) ([]byte, error) {
			if channel&math.MaxUint32 == cutChannel && m.p.comesLater(header, bulk, func(header, bulk []byte) {
				_, _ = r.Swap(from, header, hears(header, bulk)) // the same
			}) {
				return bulk, nil
			}
			return r.Swap(from, header, hears(header, bulk))
		}
	}
	return m.Node.Receive(channel, heard)
}

// parsed is a message about a cut.
func parsed(header, bulk []byte) lives.Message {
	m, _ := lives.Parse(header, bulk, lives.Limits{Nodes: math.MaxInt, Tasks: math.MaxInt, Resources: math.MaxInt}) // of no kind, if it is malformed
	return m
}

// comesLater has a message about a cut come later, behind others, if the world says so.
func (p *process) comesLater(header, bulk []byte, comes func(header, bulk []byte)) bool {
	d := p.world.delay(p, parsed(header, bulk), "")
	if d > 0 {
		header, bulk = bytes.Clone(header), bytes.Clone(bulk)
		p.world.later(d, func() { comes(header, bulk) })
	}
	return d > 0
}

// delay is how much longer something takes.
func (w *world) delay(p *process, m lives.Message, gathered string) time.Duration {
	if w.delays == nil {
		return 0
	}
	return w.delays(p, m, gathered)
}

// GatherAmong implements node.Node.
func (m member) GatherAmong(ctx context.Context, name string, round uint64, among []uint64, blob []byte) ([][]byte, error) {
	all, err := m.Node.GatherAmong(ctx, name, round, among, blob)
	<-time.After(m.p.world.delay(m.p, lives.Message{}, name))
	return all, err
}

// errTooLarge is why a record cannot be sent.
var errTooLarge = errors.New("the record is too large")

// Send implements node.Node.
func (m member) Send(to int, channel uint64, header, bulk []byte, keep bool) error {
	if channel&math.MaxUint32 == cutChannel && len(bulk) > 0 && m.p.large.Load() {
		return errTooLarge
	}
	return m.Node.Send(to, channel, header, bulk, keep)
}

// gets notes a message about a cut.
func (p *process) gets(header, bulk []byte) {
	m := parsed(header, bulk)
	if m.Kind != lives.Part {
		return
	}
	p.mu.Lock()
	p.copied = m.Key
	p.mu.Unlock()
	p.world.happens(p, "copy")
}

// older is what the record of a task in a cut before had, in a world whose lie is that.
func (p *process) older(header, bulk []byte) []byte {
	m := parsed(header, bulk)
	if p.world.lies != "versions" || m.Kind != lives.Part {
		return bulk
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.records == nil {
		p.records = make(map[int][]byte)
	}
	before := p.records[m.Record.Task]
	if p.records[m.Record.Task] = bytes.Clone(bulk); len(before) == len(bulk) {
		return bytes.Clone(before)
	}
	return bulk
}

// journal is the log of a process. Faults may come at a line of it.
type journal struct {
	p    *process
	text slog.Handler
}

// Enabled implements slog.Handler.
func (j *journal) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (j *journal) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "node is not reached" { // which is said too often
		return nil
	}
	_ = j.text.Handle(ctx, r)
	if !j.p.killed.Load() && j.p.world.hears(j.p, r) { // a process that is killed knows nothing of the others
		j.p.world.happens(j.p, "restore")
	}
	j.p.mu.Lock()
	defer j.p.mu.Unlock()
	if j.p.lines--; j.p.lines == 0 && j.p.reached != nil {
		close(j.p.reached)
		j.p.reached = nil
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (j *journal) WithAttrs(a []slog.Attr) slog.Handler { return &journal{j.p, j.text.WithAttrs(a)} }

// WithGroup implements slog.Handler.
func (j *journal) WithGroup(name string) slog.Handler { return &journal{j.p, j.text.WithGroup(name)} }

// record keeps what the processes say.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(line)
}

// hears notes what a process says. A life begins from the last whole cut, or a later one, if one node is lost, or all nodes see one disk.
// It reports whether the process begins to restore a cut.
func (w *world) hears(p *process, r slog.Record) bool {
	var cut lives.Key
	var life, run uint64
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "cut":
			cut, _ = a.Value.Any().(lives.Key) // another message has another cut
		case "life":
			life, _ = a.Value.Any().(uint64)
		case "run":
			run, _ = a.Value.Any().(uint64)
		case "round":
			cut = lives.Key{Run: 1, Round: a.Value.Uint64()}
		case "from":
			if n, _ := fmt.Sscanf(a.Value.String(), "the end of run %d", &cut.Run); n == 1 {
				cut.Round = lives.End
			} else {
				_, _ = fmt.Sscanf(a.Value.String(), "round %d of run %d", &cut.Round, &cut.Run) // a cut has one of both names
			}
		}
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Message {
	case "node lost":
		w.changing = true
	case "orwl: this node comes again":
		w.reached["a node that was given up comes again"] = true
	case "orwl: a cut is whole":
		w.isWhole(life, cut)
	case "orwl: the cuts of a run are dropped":
		w.drops(life, run)
	case "orwl: a file of a cut cannot be used":
		w.named = true
	case "orwl: the run goes on from its folder":
		w.reached["a run goes on from its folder"] = true
		w.continues = true
		w.beginsFrom(cut, w.count >= len(w.disks))
		p.restoring.Store(true)
	case "orwl: the run goes on":
		w.changing = false
		if cut.Round == 0 && w.newest() != (lives.Key{}) {
			w.reached["a life begins from the beginning, and there was a cut"] = true
		}
		w.beginsFrom(cut, w.isSafe())
		p.restoring.Store(cut.Round > 0)
	}
	return p.restoring.Load() && strings.HasPrefix(r.Message, "orwl: the run goes on")
}
