package session

import (
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

const (
	// writeTimeout ends a line whose other end takes nothing. The lease ends the session.
	writeTimeout = 10 * time.Second
	// mostUnwritten is how many bytes wait to be written on a line.
	mostUnwritten = 16 << 20
)

// line writes messages to a stream, in a goroutine of its own, so that its callers never wait.
type line struct {
	stream p2p.Stream

	mu     sync.Mutex
	more   sync.Cond
	bytes  []byte
	closed bool // no message is appended; those before are still written
}

// newLine makes a line. Call run in a goroutine.
func newLine(stream p2p.Stream) *line {
	l := &line{stream: stream}
	l.more.L = &l.mu
	return l
}

// put appends a message.
func (l *line) put(m protocol.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case len(l.bytes) > mostUnwritten:
		l.closed, l.bytes = true, nil // the messages that the client has not taken come again, on another line
	default:
		l.bytes = m.Append(l.bytes)
		l.more.Signal()
	}
}

// close ends the line behind what was put.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.more.Signal()
}

// run writes until the line is closed, or its stream is. Then it closes the stream.
func (l *line) run() {
	defer l.stream.Close()
	frozen := time.AfterFunc(writeTimeout, l.stream.Close)
	frozen.Stop()
	var spare []byte
	for {
		l.mu.Lock()
		for len(l.bytes) == 0 && !l.closed {
			l.more.Wait()
		}
		bytes := l.bytes
		l.bytes = spare[:0]
		l.mu.Unlock()
		if len(bytes) == 0 {
			return
		}
		frozen.Reset(writeTimeout)
		_, err := l.stream.Write(bytes)
		frozen.Stop()
		if err != nil {
			l.close()
			return
		}
		spare = bytes
	}
}
