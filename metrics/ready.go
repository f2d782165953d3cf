package metrics

import "errors"

// What a node is not ready for.
var (
	// ErrNotStarted is that no task has begun.
	ErrNotStarted = errors.New("no task has begun yet")
	// ErrOver is that all tasks have ended.
	ErrOver = errors.New("all tasks have ended")
)

// Ready is nil while tasks run: then the nodes of the run have met, too. Otherwise it
// is why not.
func (m *Metrics) Ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	why := ErrNotStarted
	for _, t := range m.tasks {
		switch {
		case t.began.Load() == 0:
		case t.ended.Load() == 0:
			return nil
		default:
			why = ErrOver
		}
	}
	return why
}
