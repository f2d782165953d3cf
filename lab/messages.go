package lab

import (
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// The benchmarks of Amer et al. are about threads that share one communication engine. Here the
// engine is a few words that a lock protects. Ranks 1 to P-1 are the threads of a process, and
// rank 0 is another process, which answers.
//
//	rank 0                          rank 1, home of the engine and its lock
//	posted: requests so far         issued: tickets given     arrived: answers so far, by rank 0
//	                                done: answers taken       left: threads that have ended
//
// A thread issues a request on the main path: one acquisition with high priority. It sends the message
// behind the release, because a Release completes what the holder has put, and MPI_Isend waits for no
// network. The server sends as MPI_Send sends a short message: it waits for no acknowledgement. Then the thread is on
// the progress path until its request is done: it acquires with low priority, takes an answer if
// there is one, also if another thread waits for it, and releases. An acquisition is productive if it has
// issued a request or taken an answer. Progress efficiency is the share of such acquisitions
// (§3.2).
//
// With a number of iterations the threads share them (§3.4.1, "scheduled cooperatively"): a thread that gets the
// lock seldom makes fewer, and none waits for the others at the end. Latency and message rate count all
// threads over the whole run, so that a thread's long wait counts wherever it comes.

// The words of the engine, in the data of ranks 0 and 1.
const (
	wordPosted = 8 * iota // a cache line each
	wordIssued
	wordDone
	wordArrived
	wordLeft
)

const (
	// stopPosting is set in posted when all threads have ended.
	stopPosting = 1 << 62
	// bulkWords is the largest message.
	bulkWords = 1 << 13
	// pollPause is the time between two looks for an answer, in local accesses. It is so long that
	// a window of shared memory gives the processor to another goroutine.
	pollPause = 100
	// window is how many requests a thread issues before it waits, in the regime of throughput.
	window = 64

	engineAt = rma.Rank(1)
	serverAt = rma.Rank(0)
)

// The values of these benchmarks.
const (
	valueMain     = "main path"     // productive share of its acquisitions
	valueProgress = "progress path" // the same
	valueRate     = "message rate"
)

// sizes are message sizes in bytes.
func messageSizes() *Sweep {
	return &Sweep{Name: "message size", Unit: "B", Steps: these(64, 1024, 8192), Log: true}
}

// ofTOPC19 are the benchmarks of Amer et al., §3.4 and §5.
func ofTOPC19() []Benchmark {
	engine := func(*topology.Tree) []rma.Rank { return []rma.Rank{engineAt} }
	return []Benchmark{
		{Name: "ACQUIRE", Paper: "TOPC19 §3.4.1", Figure: FigureLatency, Every: true, Section: always(Section{Inside: Work{Lines: 10}}),
			About: "latency of an acquire and a release, ten random cache lines in the section"},
		{Name: "PINGPONG", Paper: "TOPC19 §3.4.2, §5.2", Figure: FigureLatency, Every: true, Sweep: messageSizes(), homes: engine, fits: fitsMessages, Inside: true, messages: ofThreads,
			script: func(r *player) error { return r.exchange(1) },
			About:  "threads send one request each to a single-threaded server and wait: latency, and the productive share of acquisitions"},
		{Name: "MSGRATE", Paper: "TOPC19 §3.4.3, §5.2", Figure: valueRate, Every: true, Sweep: messageSizes(), homes: engine, fits: fitsMessages, Inside: true, messages: ofThreads,
			script: func(r *player) error { return r.exchange(window) },
			About:  "threads post 64 receives each before they wait: message rate, and the productive share of acquisitions"},
		{Name: "SNAP", Paper: "TOPC19 §5.3", Figure: valueSweep, Inside: true, homes: homesSNAP, fits: fitsSNAP, messages: ofSNAP, script: playSNAP,
			About: "wavefront sweeps over a grid of processes, with a communication lock each: time of a sweep"},
	}
}

var errMessages = errors.New("want at least two ranks: a server and a thread")

func fitsMessages(t *topology.Tree) error {
	if t.Ranks() < 2 {
		return errMessages
	}
	return nil
}

// ofThreads is room for a message of each thread.
func ofThreads(ranks int, step float64) int { return (ranks - 1) * int(min(step, 8*bulkWords)) }

// message is a buffer of the size that the step says.
func (r *player) message() ([]byte, error) {
	n := int(r.c.Step)
	if n < 8 || n > 8*bulkWords || n%8 != 0 {
		return nil, fmt.Errorf("lab: %s with %g bytes: want a multiple of 8, up to %d", r.b.Name, r.c.Step, 8*bulkWords)
	}
	return make([]byte, n), nil
}

// exchange is one rank's part: the server's, or a thread's with so many requests at once.
func (r *player) exchange(pipeline int) error {
	bytes, err := r.message()
	if err != nil {
		return err
	}
	if r.w.Rank() == engineAt { // from the last repeat
		for _, word := range []rma.Disp{wordIssued, wordDone, wordArrived, wordLeft} {
			r.w.Put(engineAt, r.data+word, 0)
		}
		r.w.Put(serverAt, r.data+wordPosted, 0)
		r.w.FlushAll()
	}
	if err := r.meet(); err != nil {
		return err
	}
	if r.w.Rank() == serverAt {
		receive := r.c.Receive
		if pipeline > 1 {
			receive = 0 // then a request carries no message
		}
		err = r.serve(bytes, receive)
	} else {
		err = r.request(bytes, pipeline)
	}
	if err != nil {
		return err
	}
	return r.meet()
}

// serve answers the requests, one after another, until all threads have ended. It computes as long as receive says
// for each one.
func (r *player) serve(bytes []byte, receive time.Duration) error {
	r.probe.phase.Set(phaseOutside)
	for served := uint64(0); ; {
		r.w.Flush(engineAt)
		posted, err := r.w.Await(r.ctx, serverAt, r.data+wordPosted, rma.AtLeast(served+1))
		if err != nil {
			return err
		}
		until := posted &^ stopPosting
		if posted != until && until <= served {
			return nil
		}
		for ; served < until; served++ {
			if receive > 0 {
				r.clock.Compute(receive)
			}
			r.w.PutBytes(engineAt, r.strips, bytes)
			r.w.Accumulate(engineAt, r.data+wordArrived, rma.Sum, 1)
		}
	}
}

// request is the life of a thread.
func (r *player) request(bytes []byte, pipeline int) error {
	threads := float64(r.tree.Ranks() - 1)
	t := newTurns(r)
	pool := uint64(threads) * uint64(r.c.Turns*pipeline)
	t.counting = pool > 0
	for !t.over {
		var ticket uint64
		for range pipeline {
			var err error
			if ticket, err = r.issue(bytes, pipeline == 1); err != nil {
				return err
			}
		}
		if err := r.progress(ticket); err != nil {
			return err
		}
		if t.next(); pool > 0 {
			t.over = ticket >= pool
		}
	}
	t.end()
	made := float64(pipeline) * float64(r.sample.Turns)
	r.sample.value(FigureLatency, float64(r.sample.Time), made)
	r.sample.value(valueRate, made, r.sample.Time.Seconds()/threads)
	if left := r.w.FetchOp(engineAt, r.data+wordLeft, rma.Sum, 1) + 1; left < uint64(threads) {
		return nil
	}
	r.w.Accumulate(serverAt, r.data+wordPosted, rma.Sum, stopPosting)
	r.w.Flush(serverAt)
	return nil
}

// issue is the main path. In the regime of latency a request has a message.
func (r *player) issue(bytes []byte, carries bool) (ticket uint64, err error) {
	changes, err := r.acquire(0, true)
	if err != nil {
		return 0, err
	}
	r.engine()
	ticket = r.w.Get(engineAt, r.data+wordIssued) + 1
	r.w.Put(engineAt, r.data+wordIssued, ticket)
	r.sample.value(valueMain, 1, 1)
	if err := r.release(0, true, changes); err != nil {
		return 0, err
	}
	if carries {
		r.w.PutBytes(serverAt, r.strips+rma.Disp(int(r.w.Rank()-engineAt)*len(bytes)/8), bytes)
	}
	r.w.Accumulate(serverAt, r.data+wordPosted, rma.Sum, 1)
	r.w.Flush(serverAt)
	return ticket, nil
}

// engine is what a communication library does in each acquisition, besides the words of the engine:
// Case.Inside.
func (r *player) engine() {
	if r.c.Inside > 0 {
		r.clock.Compute(r.c.Inside)
	}
}

// progress is the progress path, until a ticket is done.
func (r *player) progress(ticket uint64) error {
	for {
		changes, err := r.acquireLow(0)
		if err != nil {
			return err
		}
		r.engine()
		arrived, done := r.w.Get(engineAt, r.data+wordArrived), r.w.Get(engineAt, r.data+wordDone)
		productive := arrived > done
		if productive {
			done++
			r.w.Put(engineAt, r.data+wordDone, done)
			r.sample.value(valueProgress, 1, 1)
		} else {
			r.sample.value(valueProgress, 0, 1)
		}
		if err := r.release(0, true, changes); err != nil {
			return err
		}
		if done >= ticket {
			return nil
		}
		if !productive {
			r.w.Pause(pollPause)
		}
	}
}
