package protocol

import "fmt"

// link has each numbered message taken once and in order, over any number of connections. Both
// ends have one. It keeps what it has said until the other end has taken it:
//
//	1 2 3 4 5 6 7
//	    ▲     ▲
//	    │     said
//	    acknowledged; 4, 5 and 6 are kept
type link struct {
	said  uint64    // the number of the newest message of this end
	kept  []Message // the messages that the other end has not taken
	size  int       // about how many bytes they have
	taken uint64    // the number of the newest message of the other end
}

// say gives a message its number, and keeps it.
func (l *link) say(m Message) Message {
	l.said++
	m.Number = l.said
	l.kept = append(l.kept, m)
	l.size += m.weight()
	return m
}

// weight is how many bytes a message has that a caller chose, about.
func (m *Message) weight() int {
	switch {
	case m.Answer != nil:
		return len(m.Answer.Bytes) + len(m.Answer.States)*mostListed*(MaxWho+64)
	case m.Write != nil:
		return len(m.Write.Bytes)
	}
	return 0
}

// take looks at the number and the acknowledgement of a message. It reports whether the message
// is taken: one that comes again is not. An error says that no correct end sends this.
func (l *link) take(m Message) (bool, error) {
	first := l.said - uint64(len(l.kept))
	switch {
	case m.Taken > l.said:
		return false, fmt.Errorf("%w: it acknowledges message %d of %d", ErrMessage, m.Taken, l.said)
	case m.Taken > first: // an older one has come late
		for i := range l.kept[:m.Taken-first] {
			l.size -= l.kept[i].weight()
		}
		n := copy(l.kept, l.kept[m.Taken-first:])
		clear(l.kept[n:])
		l.kept = l.kept[:n]
	}
	switch {
	case m.Number == 0:
		return true, nil
	case m.Number <= l.taken:
		return false, nil
	case m.Number > l.taken+1:
		return false, fmt.Errorf("%w: message %d comes after %d", ErrMessage, m.Number, l.taken)
	}
	l.taken++
	return true, nil
}
