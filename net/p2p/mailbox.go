package p2p

import "sync"

// mailbox does things one after the other, on a goroutine of its own, so that its
// caller need not wait.
type mailbox struct {
	mu     sync.Mutex
	more   sync.Cond
	jobs   []func()
	closed bool
}

func newMailbox() *mailbox {
	m := new(mailbox)
	m.more.L = &m.mu
	return m
}

// put appends a job, unless the mailbox is closed.
func (m *mailbox) put(job func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.jobs = append(m.jobs, job)
		m.more.Signal()
	}
}

// close lets run return when it has done everything.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.more.Broadcast()
}

// run does the jobs until the mailbox is closed and empty.
func (m *mailbox) run() {
	for {
		m.mu.Lock()
		for len(m.jobs) == 0 && !m.closed {
			m.more.Wait()
		}
		jobs := m.jobs
		m.jobs = nil
		m.mu.Unlock()
		if len(jobs) == 0 {
			return
		}
		for _, job := range jobs {
			job()
		}
	}
}
