package wire

// Ack says that all frames of the lane up to a number have been taken.
type Ack struct{ Number uint64 }

// Append appends the frame.
func (f *Ack) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindAck}, 1)
	return end(AppendUint(b, f.Number), from)
}

// Parse reads the body.
func (f *Ack) Parse(r Reader) error {
	r.want(1)
	f.Number = r.Uint()
	return r.Done()
}
