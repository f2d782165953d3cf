package lab

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/net/topology"
)

// Recording is what a program did with one lock: for each of its ranks the turns that it had, in their
// order. The benchmark RECORDED plays it again with any lock.
type Recording struct {
	Ranks [][]Turn `json:"ranks"`
}

// Turn is an acquisition of a recording: how long the rank held the lock, and how long it did other
// work after that, before it came again. The wait for the lock is no part of it.
type Turn struct {
	Write   bool          `json:"write"`
	Hold    time.Duration `json:"hold_ns"`
	Outside time.Duration `json:"outside_ns"`
}

// recordingColumns are the columns of a recording.
var recordingColumns = []string{"rank", "write", "hold_ns", "outside_ns"}

const (
	mostRecorded     = 1 << 17   // turns of a recording
	mostRecordedRank = 1<<12 - 1 // the last rank of a recording
)

// ReadRecording reads a recording: CSV with the columns rank, write, hold_ns and outside_ns in any
// order, other columns among them, and a row for each acquisition. Ranks count from 0. The rows of a
// rank are in the order of its turns. write is true or false, or 1 or 0.
func ReadRecording(from io.Reader) (r Recording, err error) {
	rows := csv.NewReader(from)
	header, err := rows.Read()
	if err != nil {
		return r, fmt.Errorf("lab: recording: no header %v: %w", recordingColumns, err)
	}
	var at [4]int
	for i, name := range recordingColumns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return r, fmt.Errorf("lab: recording: no column %q in the header %v", name, header)
		}
	}
	for n := 0; ; n++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return r, r.validate()
		}
		if err != nil {
			return r, fmt.Errorf("lab: recording: %w", err)
		}
		line, _ := rows.FieldPos(0)
		if n == mostRecorded {
			return r, fmt.Errorf("lab: recording: line %d: more than %d turns: record a part of the run", line, mostRecorded)
		}
		if err := r.add(row[at[0]], row[at[1]], row[at[2]], row[at[3]]); err != nil {
			return r, fmt.Errorf("lab: recording: line %d: %w", line, err)
		}
	}
}

// add adds a row.
func (r *Recording) add(rank, write, hold, outside string) (err error) {
	p, err := strconv.Atoi(rank)
	if err != nil || p < 0 || p > mostRecordedRank {
		return fmt.Errorf("rank is %q, want 0 to %d", rank, mostRecordedRank)
	}
	var t Turn
	if t.Write, err = strconv.ParseBool(write); err != nil {
		return fmt.Errorf("write is %q, want true or false", write)
	}
	for _, time := range []struct {
		name, text string
		to         *time.Duration
	}{{"hold_ns", hold, &t.Hold}, {"outside_ns", outside, &t.Outside}} {
		ns, err := strconv.ParseFloat(time.text, 64)
		if err != nil || !(ns >= 0 && ns <= 3600e9) {
			return fmt.Errorf("%s is %q, want nanoseconds, up to an hour", time.name, time.text)
		}
		*time.to = asDuration(ns)
	}
	for len(r.Ranks) <= p {
		r.Ranks = append(r.Ranks, nil)
	}
	r.Ranks[p] = append(r.Ranks[p], t)
	return nil
}

func asDuration(ns float64) time.Duration { return time.Duration(ns + .5) }

func (r *Recording) validate() error {
	if len(r.Ranks) == 0 {
		return errors.New("lab: recording: it has no turns")
	}
	for p, turns := range r.Ranks {
		if len(turns) == 0 {
			return fmt.Errorf("lab: recording: rank %d of %d has no turns: number the ranks without a gap", p, len(r.Ranks))
		}
	}
	return nil
}

// on says why a recording cannot be played by the ranks of a tree, or nil.
func (r *Recording) on(t *topology.Tree) error {
	if len(r.Ranks) != t.Ranks() {
		return fmt.Errorf("lab: the recording has %d ranks, and %s has %d", len(r.Ranks), t, t.Ranks())
	}
	return nil
}

// Recorded is the benchmark that plays a recording (Case.Recording). It is not among Benchmarks.
func Recorded() Benchmark {
	return Benchmark{Name: "RECORDED", Paper: "none", Figure: FigureIteration, Section: always(Section{}),
		About: "what a program did with a lock, as it recorded it"}
}

// recorded is the section of the rank's next turn. After the last one comes the first one again.
func (r *player) recorded(s Section) Section {
	turns := r.c.Recording.Ranks[r.w.Rank()]
	turn := turns[r.turn%len(turns)]
	r.turn++
	r.turnWrites = turn.Write
	s.Inside.Spin, s.After.Spin = plus(s.Inside.Spin, turn.Hold), plus(s.After.Spin, turn.Outside)
	return s
}
