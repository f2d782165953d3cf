package wire

// Beat says that its sender lives. Times are nanoseconds.
type Beat struct {
	Sent uint64 // the sender's time; the receiver returns it unread
	Echo uint64 // the last Sent of the receiver that the sender has seen
	Held uint64 // how long the sender has had Echo, by its own clock
}

// Append appends the frame.
func (f *Beat) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindBeat}, 3)
	return end(AppendUint(AppendUint(AppendUint(b, f.Sent), f.Echo), f.Held), from)
}

// Parse reads the body.
func (f *Beat) Parse(r Reader) error {
	r.want(3)
	f.Sent, f.Echo, f.Held = r.Uint(), r.Uint(), r.Uint()
	return r.Done()
}
