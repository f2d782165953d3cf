package wire

// Beat says that its sender lives. Times are nanoseconds of whoever's clock, which
// the other only gives back.
type Beat struct {
	Sent uint64 // by the sender's clock
	Echo uint64 // the other's Sent that the sender has last seen
	Held uint64 // for how long the sender has had it, by its own clock
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
