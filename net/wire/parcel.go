package wire

// Parcel is something between the two nodes' upper layers.
type Parcel struct {
	Channel uint64 // the channel of its receiver
	Header  []byte
}

// Append appends the frame, without its bulk.
func (f *Parcel) Append(b []byte, h Head) []byte {
	from := len(b)
	h.Kind = KindParcel
	b = begin(b, h, 2)
	return end(AppendBytes(AppendUint(b, f.Channel), f.Header), from)
}

// Parse reads the body. Header is part of what r reads from.
func (f *Parcel) Parse(r Reader) error {
	r.want(2)
	f.Channel, f.Header = r.Uint(), r.Bytes()
	return r.Done()
}
