package resp

import (
	"context"
	"log/slog"
	"sync"
)

// seldom is a log that strangers cannot fill: of each message it passes on some at once, and
// then one line in a while. The line after says how many were left out.
type seldom struct {
	slog.Handler
	said *said
}

// said is what was logged lately.
type said struct {
	mu  sync.Mutex
	now func() int64
	of  map[string]*saying
}

// saying is a message. There are as many as calls of the log in this package.
type saying struct {
	since int64 // when the while began
	count int   // lines in it
	kept  int   // lines left out
}

const (
	linesAtOnce = 10
	aWhile      = 10 * 1000 // ms
)

func newSeldom(log *slog.Logger, now func() int64) *slog.Logger {
	return slog.New(seldom{log.Handler(), &said{now: now, of: make(map[string]*saying)}})
}

// Handle implements slog.Handler.
func (s seldom) Handle(ctx context.Context, r slog.Record) error {
	left, pass := s.said.pass(r.Message)
	if !pass {
		return nil
	}
	if left > 0 {
		r.AddAttrs(slog.Int("left_out", left))
	}
	return s.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (s seldom) WithAttrs(a []slog.Attr) slog.Handler { return seldom{s.Handler.WithAttrs(a), s.said} }

// WithGroup implements slog.Handler.
func (s seldom) WithGroup(name string) slog.Handler { return seldom{s.Handler.WithGroup(name), s.said} }

// pass reports whether a line may be written, and how many like it were left out before.
func (s *said) pass(message string) (left int, pass bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	is := s.of[message]
	if is == nil {
		is = &saying{since: now}
		s.of[message] = is
	}
	if now-is.since >= aWhile {
		is.since, is.count = now, 0
	}
	if is.count == linesAtOnce {
		is.kept++
		return 0, false
	}
	is.count++
	left, is.kept = is.kept, 0
	return left, true
}
