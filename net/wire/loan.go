package wire

// Loan is a parcel whose bulk does not travel: it lies in memory of the sender that
// the other node has mapped. Which memory that is, the nodes have said before.
type Loan struct {
	Parcel
	Offset uint64 // of the first byte
	Length int    // from 1
}

// Append appends the frame.
func (f *Loan) Append(b []byte, h Head) []byte {
	from := len(b)
	h.Kind = KindLoan
	b = begin(b, h, 4)
	b = AppendBytes(AppendUint(b, f.Channel), f.Header)
	return end(AppendUint(AppendUint(b, f.Offset), uint64(f.Length)), from)
}

// Parse reads the body. Header is part of what r reads from. Whether there is such
// memory only its reader knows.
func (f *Loan) Parse(r Reader) error {
	r.want(4)
	f.Channel, f.Header = r.Uint(), r.Bytes()
	f.Offset, f.Length = r.Uint(), int(r.UintTo(MaxBulk))
	if r.err == nil && f.Length == 0 {
		r.fail("a loan of nothing")
	}
	return r.Done()
}
