package wire

// Hello is the first frame of each stream, in both directions. Its first field is the version,
// in every version; the other fields are this version's.
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
	// Lease and Skew are what the node's promises to the others depend on, in
	// nanoseconds.
	Lease, Skew uint64
	// Address is where the node listens.
	Address string
}

// Append appends the frame.
func (f *Hello) Append(b []byte) []byte {
	from := len(b)
	b = begin(b, Head{Kind: KindHello}, 10)
	for _, v := range [...]uint64{f.Version, f.Nodes, f.Node, f.Incarnation, f.Lane, f.Peer, f.Received, f.Lease, f.Skew} {
		b = AppendUint(b, v)
	}
	return end(AppendString(b, f.Address), from)
}

// Parse reads the body; of another version, that it is one.
func (f *Hello) Parse(r Reader) error {
	if f.Version = r.Uint(); f.Version != Version {
		*f = Hello{Version: f.Version}
		return r.err
	}
	r.want(10)
	for _, v := range [...]*uint64{&f.Nodes, &f.Node, &f.Incarnation, &f.Lane, &f.Peer, &f.Received, &f.Lease, &f.Skew} {
		*v = r.Uint()
	}
	f.Address = r.textTo(MaxText)
	return r.Done()
}
