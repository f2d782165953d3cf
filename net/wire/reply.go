package wire

import "github.com/orwl/go-orwl/net/rma"

// Reply answers an operation. Its bulk is what GetBytes has read.
type Reply struct {
	Origin rma.Rank // the rank whose operation it answers
	Call   uint64   // the number of the operation's frame
	Status Status
	Value  uint64
}

// Status is how an operation ended.
type Status uint8

const (
	// Done: as it should.
	Done Status = iota
	// BadAddress: there is no such memory. A Flush gets it if an operation before it named
	// such memory.
	BadAddress
	// Forgotten: the Await was ended by a Forget.
	Forgotten
	// Failed: the window of the node that answers has failed. Value is the rank whose loss
	// is the reason, counted from 1.
	Failed
	// Closed: that node has ended its fabric, by itself or because another node has: then
	// Value is a rank of the other, counted from 1.
	Closed
	lastStatus = Closed
)

// Append appends the frame, without its bulk.
func (f *Reply) Append(b []byte, h Head) []byte {
	from := len(b)
	h.Kind = KindReply
	b = begin(b, h, 4)
	b = AppendUint(AppendUint(b, uint64(f.Origin)), f.Call)
	b = AppendUint(append(b, byte(f.Status)), f.Value)
	return end(b, from)
}

// Parse reads the body.
func (f *Reply) Parse(r Reader) error {
	r.want(4)
	f.Origin, f.Call = rma.Rank(r.UintTo(maxRank)), r.Uint()
	f.Status, f.Value = Status(r.UintTo(uint64(lastStatus))), r.Uint()
	return r.Done()
}
