package lane

import (
	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/wire"
)

// AddTo adds to t what went over the lane so far.
func (l *Lane) AddTo(t *node.Traffic) {
	for k := range wire.Kinds {
		t.In[k].Frames += l.in[k].frames.Load()
		t.In[k].Bytes += l.in[k].bytes.Load()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, f := range l.out {
		t.Out[k].Frames += f.Frames
		t.Out[k].Bytes += f.Bytes
	}
}

// arrivals are what a lane's reader counts. There is one reader at a time: Attach waits
// for the end of the last one before it starts the next.
type arrivals [wire.Kinds]struct{ frames, bytes tally.Count }

func (a *arrivals) add(k wire.Kind, size int) {
	a[k].frames.Inc()
	a[k].bytes.Add(uint64(size))
}

// departures are what is appended to a lane. l.mu is held.
type departures [wire.Kinds]node.Flow

func (d *departures) add(k wire.Kind, size int) {
	d[k].Frames++
	d[k].Bytes += uint64(size)
}

// put appends a numbered frame to the lane: see engine.Link.Put. l.mu is held.
func (l *Lane) put(k wire.Kind, room, bulk []byte) {
	before := l.link.Kept()
	l.link.Put(room, bulk)
	l.out.add(k, l.link.Kept()-before)
}

// says appends an acknowledgement, if it is time for one. l.mu is held.
func (l *Lane) says(now bool) {
	if size := l.link.Acknowledge(now); size > 0 {
		l.out.add(wire.KindAck, size)
	}
}
