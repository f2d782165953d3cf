package wire

// Hello is the first frame of each stream, in both directions.
type Hello struct {
	Version     uint64
	Nodes       uint64 // of the run
	Node        uint64 // who speaks
	Incarnation uint64 // which life of that node
	Lane        uint64
	// Peer is the life of the other node that Received is about, 0 if there was
	// none: how many of the lane's frames have been taken.
	Peer     uint64
	Received uint64
	// Address is where the node listens.
	Address string
}

// Append appends the frame.
func (f *Hello) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindHello}, 8)
	for _, v := range [...]uint64{f.Version, f.Nodes, f.Node, f.Incarnation, f.Lane, f.Peer, f.Received} {
		b = AppendUint(b, v)
	}
	return end(AppendString(b, f.Address), from)
}

// Parse reads the body.
func (f *Hello) Parse(r Reader) error {
	r.want(8)
	for _, v := range [...]*uint64{&f.Version, &f.Nodes, &f.Node, &f.Incarnation, &f.Lane, &f.Peer, &f.Received} {
		*v = r.Uint()
	}
	f.Address = r.textTo(MaxText)
	return r.Done()
}
