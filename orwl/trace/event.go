package trace

import (
	"encoding/json"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// Kind is a kind of event.
type Kind uint8

// The events of tasks and of accesses.
const (
	Began      Kind = iota + 1 // the task
	Ended                      // the task
	Requested                  // the access is announced
	Prefetched                 // its bytes have come from another node; it comes when the access is acquired
	Waiting                    // the task stops for it
	Acquired
	Releasing // it is about to be released
	Released
	Cancelled
)

var kindNames = [...]string{
	Began: "began", Ended: "ended", Requested: "requested", Prefetched: "prefetched", Waiting: "waiting",
	Acquired: "acquired", Releasing: "releasing", Released: "released", Cancelled: "cancelled",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "none"
}

// Event is one thing that has happened to a task.
type Event struct {
	At   time.Duration // since the clock began
	Kind Kind
	Task *orwl.Task
	// Access is nil if it is the task that has begun or ended.
	Access *Access
	// Fence and Version are the grant's, from its acquisition to its release.
	Fence, Version uint64
	Bytes          int   // the bytes that have come, if Prefetched
	Err            error // the error with which the task has ended
}

// MarshalJSON writes the event with names for what it points to.
func (e Event) MarshalJSON() ([]byte, error) {
	out := struct {
		Seconds  float64 `json:"seconds"`
		Event    string  `json:"event"`
		Task     string  `json:"task"`
		Node     int     `json:"node"`
		Round    int64   `json:"round"`
		Resource string  `json:"resource,omitempty"`
		Mode     string  `json:"mode,omitempty"`
		Fence    uint64  `json:"fence,omitempty"`
		Version  uint64  `json:"version,omitempty"`
		Bytes    int     `json:"bytes,omitempty"`
		Error    string  `json:"error,omitempty"`
	}{Seconds: e.At.Seconds(), Event: e.Kind.String(), Fence: e.Fence, Version: e.Version, Bytes: e.Bytes}
	if e.Task != nil {
		out.Task, out.Node, out.Round = e.Task.Name(), e.Task.Node(), e.Task.Round()
	}
	if e.Access != nil {
		out.Resource, out.Mode = e.Access.Resource, resource.Read.String()
		if e.Access.Write {
			out.Mode = resource.Write.String()
		}
	}
	if e.Err != nil {
		out.Error = e.Err.Error()
	}
	return json.Marshal(out)
}
