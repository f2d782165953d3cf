package wire

// Beat says that its sender lives. Times are nanoseconds of whoever's clock, which
// the other only gives back.
type Beat struct {
	Sent uint64 // by the sender's clock
	Echo uint64 // the other's Sent that the sender has last seen
}

// Append appends the frame.
func (f *Beat) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindBeat}, 2)
	return end(AppendUint(AppendUint(b, f.Sent), f.Echo), from)
}

// Parse reads the body.
func (f *Beat) Parse(r Reader) error {
	r.want(2)
	f.Sent, f.Echo = r.Uint(), r.Uint()
	return r.Done()
}
