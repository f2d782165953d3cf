package wire

// Refuse is the last frame of a stream: why there will be no more. It is the same in every
// version, because nodes of different versions refuse each other by it.
type Refuse struct{ Reason string }

// Append appends the frame.
func (f *Refuse) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindRefuse}, 1)
	return end(AppendString(b, f.Reason[:min(len(f.Reason), MaxText)]), from)
}

// Parse reads the body.
func (f *Refuse) Parse(r Reader) error {
	r.want(1)
	f.Reason = r.textTo(MaxText)
	return r.Done()
}
