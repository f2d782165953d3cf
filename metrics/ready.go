package metrics

import "errors"

// Reasons why a node is not ready.
var (
	// ErrNotStarted means that no task has begun.
	ErrNotStarted = errors.New("no task has begun yet")
	// ErrOver means that all tasks have ended.
	ErrOver = errors.New("all tasks have ended")
)

// Ready returns nil while tasks run; the nodes of the run have met by then. Otherwise it
// returns the reason.
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
