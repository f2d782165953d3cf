package lives

import (
	"errors"
	"reflect"
	"testing"

	"github.com/orwl/go-orwl/orwl/internal/balance"
)

// limits hold for run 2, with 3 nodes, 4 tasks and 5 resources.
var limits = Limits{2, 3, 4, 5}

// messages are one of each kind, within the limits.
var messages = []Message{
	{Kind: Ask, Key: Key{1, 2, 60}, Most: 40},
	{Kind: Past, Key: Key{2, 2, 60}, Most: 61},
	{Kind: Part, Key: Key{1, 2, 60}, Owner: 2, Tasks: 2, Record: Record{Task: 3, Rounds: 59, Ended: true, Contents: []Content{{4, []byte("four")}, {0, nil}, {1, []byte("one")}}}},
	{Kind: Part, Key: Key{1, 2, 60}, Owner: 0, Tasks: 1, Record: Record{Task: 0, Rounds: 60}},
	{Kind: Have, Key: Key{1, 2, 60}, Owner: 1, Tasks: 1},
	{Kind: Have, Key: Key{1, 2, 60}, Owner: 1, Tasks: 1, Saved: true},
	{Kind: Whole, Key: Key{1, 2, 60}},
	{Kind: Whole, Key: Key{1, 2, 60}, Last: true},
	{Kind: Whole, Key: Key{1, 2, 60}, Last: true, Weights: []int{500, 1000, 1500}},
	{Kind: Did, Key: Key{1, 2, 60}, Load: balance.Load{Units: 1, Done: 2, Workers: 3, Busy: 4, Wall: 5}},
	{Kind: Want, Key: Key{1, 2, 0}},
	{Kind: Leave, Key: Key{1, 2, 0}},
	{Kind: None, Key: Key{1, 2, End}},
}

// TestMessages encodes messages and reads them.
func TestMessages(t *testing.T) {
	for _, m := range messages {
		head, bulk := m.Encode()
		got, err := Parse(head, bulk, limits)
		if err != nil {
			t.Errorf("%v: %v", m, err)
		}
		for i := range got.Contents {
			if len(got.Contents[i].Bytes) == 0 {
				got.Contents[i].Bytes = nil
			}
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%v comes as %v", m, got)
		}
	}
}

// TestMessagesRefused has messages of another program, and with too few and too many bytes.
func TestMessagesRefused(t *testing.T) {
	for i, m := range messages {
		head, bulk := m.Encode()
		for n := range head {
			if _, err := Parse(head[:n], bulk, limits); err == nil {
				t.Errorf("message %d: %d bytes of its header are enough", i, n)
			}
		}
		if _, err := Parse(head, append(bulk, 0), limits); err == nil {
			t.Errorf("message %d: a byte behind its end is taken", i)
		}
	}
	head, bulk := messages[2].Encode()
	for _, c := range []struct {
		what                    string
		nodes, tasks, resources int
		bulk                    []byte
	}{{"an owner", 2, 4, 5, bulk}, {"a task", 3, 3, 5, bulk}, {"a resource", 3, 4, 4, bulk}, {"fewer bytes", 3, 4, 5, bulk[1:]}} {
		if _, err := Parse(head, c.bulk, Limits{2, c.nodes, c.tasks, c.resources}); err == nil {
			t.Errorf("%s that is not there is taken", c.what)
		}
	}
}

// TestLoadsRefused has loads and weights that no node has.
func TestLoadsRefused(t *testing.T) {
	for _, m := range []Message{
		{Kind: Did, Key: Key{1, 2, 60}, Load: balance.Load{Busy: -1}},
		{Kind: Whole, Key: Key{1, 2, 60}, Last: true, Weights: []int{1, 2}},
		{Kind: Whole, Key: Key{1, 2, 60}, Last: true, Weights: []int{1, 0, 2}},
	} {
		if head, bulk := m.Encode(); !errors.Is(func() error { _, err := Parse(head, bulk, limits); return err }(), ErrMalformed) {
			t.Errorf("%+v is taken", m)
		}
	}
}

// TestFormerRun has a message of a run come when the next one goes on, which has fewer tasks.
func TestFormerRun(t *testing.T) {
	head, bulk := messages[2].Encode()
	if m, err := Parse(head, bulk, Limits{3, 1, 1, 1}); !errors.Is(err, ErrFormer) {
		t.Errorf("%v, %v, want that it is of a former run", m, err)
	}
}

// FuzzParse reads any bytes. A message that is taken is within the limits.
func FuzzParse(f *testing.F) {
	for _, m := range messages {
		head, bulk := m.Encode()
		f.Add(head, bulk)
	}
	f.Fuzz(func(t *testing.T, head, bulk []byte) {
		m, err := Parse(head, bulk, limits)
		if err != nil {
			return
		}
		sum := 0
		for _, c := range m.Contents {
			if c.Resource < 0 || c.Resource >= 5 {
				t.Errorf("resource %d", c.Resource)
			}
			sum += len(c.Bytes)
		}
		if sum != len(bulk) || m.Owner < 0 || m.Owner >= 3 || m.Task < 0 || m.Task >= 4 || m.Tasks < 0 || m.Tasks > 4 {
			t.Errorf("%v of %d bytes", m, len(bulk))
		}
	})
}
