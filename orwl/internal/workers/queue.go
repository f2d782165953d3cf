package workers

// queue holds steps in the order in which they came.
type queue[T any] struct {
	steps []*T // from head on, the oldest first
	head  int
}

// age says which step of a queue is meant.
type age bool

const (
	oldest age = false
	newest age = true
)

func (q *queue[T]) len() int { return len(q.steps) - q.head }

func (q *queue[T]) put(s *T) {
	if len(q.steps) == cap(q.steps) && q.head > 0 {
		n := copy(q.steps, q.steps[q.head:])
		q.steps, q.head = q.steps[:n], 0
	}
	q.steps = append(q.steps, s)
}

// take takes a step out of a queue that has one.
func (q *queue[T]) take(which age) *T {
	i := q.head
	if which == newest {
		i = len(q.steps) - 1
	}
	s := q.steps[i]
	q.steps[i] = nil
	if which == newest {
		q.steps = q.steps[:i]
	} else {
		q.head++
	}
	if q.len() == 0 {
		q.steps, q.head = q.steps[:0], 0
	}
	return s
}
