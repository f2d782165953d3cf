package protocol

import (
	"bytes"
	"errors"
	"slices"
)

// fifo is a Queue as plain as it can be: the FIFO of groups over a slice, and bytes. Grants that
// come later lie in due until the test hands them on.
type fifo struct {
	names map[string]*line
	seats map[uint64]*seat
	due   []due
}

type due struct {
	id    uint64
	grant Grant
}

type line struct {
	seats   []*seat
	fence   uint64
	version uint64
	bytes   []byte
	lost    bool
}

type seat struct {
	id      uint64
	line    *line
	read    bool
	granted bool
	writes  bool
	staged  []byte
}

func newFIFO() *fifo { return &fifo{names: make(map[string]*line), seats: make(map[uint64]*seat)} }

func (q *fifo) Request(id uint64, name string, read bool) (*Grant, error) {
	if name == "refused" {
		return nil, errors.New("the queue takes no more names")
	}
	l := q.names[name]
	if l == nil {
		l = new(line)
		q.names[name] = l
	}
	s := &seat{id: id, line: l, read: read}
	l.seats = append(l.seats, s)
	q.seats[id] = s
	q.advance(l)
	if !s.granted {
		return nil, nil
	}
	g := q.due[len(q.due)-1].grant
	q.due = q.due[:len(q.due)-1]
	return &g, nil
}

// advance grants the head of the line: a writer, or all readers before the next writer.
func (q *fifo) advance(l *line) {
	for i, s := range l.seats {
		if i > 0 && !(s.read && l.seats[0].read) {
			return
		}
		if !s.granted {
			s.granted = true
			if !s.read {
				l.fence++
			}
			q.due = append(q.due, due{s.id, Grant{l.fence, l.version, l.lost}})
		}
	}
}

// leave takes a seat out of its line.
func (q *fifo) leave(id uint64) *seat {
	s := q.seats[id]
	delete(q.seats, id)
	s.line.seats = slices.DeleteFunc(s.line.seats, func(other *seat) bool { return other == s })
	q.due = slices.DeleteFunc(q.due, func(d due) bool { return d.id == id })
	q.advance(s.line)
	return s
}

func (q *fifo) Withdraw(id uint64) { q.leave(id) }

func (q *fifo) Release(id uint64) error {
	s := q.seats[id]
	if s.writes {
		s.line.bytes = s.staged
		s.line.version++
	}
	s.line.lost = false
	q.leave(id)
	return nil
}

func (q *fifo) Abandon(id uint64) {
	s := q.seats[id]
	if !s.read && s.granted {
		s.line.lost = true
	}
	q.leave(id)
}

func (q *fifo) Read(id uint64) ([]byte, error) {
	if s := q.seats[id]; s.writes {
		return s.staged, nil
	}
	return q.seats[id].line.bytes, nil
}

func (q *fifo) Write(id uint64, b []byte) error {
	q.seats[id].writes, q.seats[id].staged = true, bytes.Clone(b)
	return nil
}
