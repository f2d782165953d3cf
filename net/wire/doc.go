// Package wire turns the messages of nodes into bytes, and back. It knows nothing of streams,
// of order, or of permissions: see packages engine and p2p.
//
// A frame is a header, and for some kinds raw bytes behind it:
//
//	┌──────────────┬───────────────────────────────┬──────┬──────────┐
//	│ header bytes │ [kind, number, bulk, body...] │ bulk │ checksum │
//	└──────────────┴───────────────────────────────┴──────┴──────────┘
//	 uint32, little  msgpack array                   raw    uint64, little
//
// Each kind of frame has a file and a type, whose Append writes it and whose Parse
// reads its body. [Input] finds the frames of a stream. Parsing never panics, and
// what is too large is refused before anything is allocated (frame.go): memory
// follows what has come, not what was claimed.
//
//	in := wire.NewInput(stream, most)
//	for {
//		h, body, err := in.Next() // until io.EOF
//		...
//		var op wire.Operation
//		err = op.Parse(h.Kind, body)
//		...
//		bulk, err = in.BulkGrowing(bulk) // or in.Bulk(memory), in.Skip()
//	}
//
// The format is msgpack, so that any tool can look into a header. Headers are written and
// read by hand (msgpack.go), because they are on the path of every hand-over. The hello is
// not: a library encodes its body.
// Integers are written in their shortest form, and read in any.
package wire
