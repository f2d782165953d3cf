package wire

// AppendBye appends a frame that says that its sender leaves the run, after
// everything that it has sent before. It has no body.
func AppendBye(b []byte, number uint64) []byte {
	from := len(b)
	return end(begin(b, Head{Kind: KindBye, Number: number}, 0), from)
}
