package dashboards

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// middle is on the way to an address: it can be slow, and break what goes through it.
type middle struct {
	address string
	delay   atomic.Int64 // of whatever goes through, in nanoseconds

	mu    sync.Mutex
	ended bool
	conns []net.Conn
}

func newMiddle(t *testing.T, to string) *middle {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &middle{address: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			onward, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			if !m.keep(from, onward) {
				return
			}
			all.Go(func() { m.pass(from, onward) })
			all.Go(func() { m.pass(onward, from) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		m.mu.Lock()
		m.ended = true
		m.mu.Unlock()
		m.cut()
		all.Wait()
	})
	return m
}

// keep remembers connections, so that they can be cut.
func (m *middle) keep(conns ...net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		for _, c := range conns {
			c.Close()
		}
		return false
	}
	m.conns = append(m.conns, conns...)
	return true
}

// cut breaks all connections that there are.
func (m *middle) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		c.Close()
	}
	m.conns = nil
}

// pass carries bytes one way, as late as it is told to.
func (m *middle) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if delay := time.Duration(m.delay.Load()); delay > 0 {
			<-time.After(delay)
		}
		if _, failed := to.Write(b[:n]); failed != nil || err != nil {
			return
		}
	}
}
