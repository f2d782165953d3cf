// Package control is what nodes say to each other about the run: which nodes are there or
// lost, what is gathered, whose memory can be mapped. A [Message] travels as the header of
// a parcel; a list travels as its bulk.
//
// github.com/vmihailenco/msgpack encodes and decodes them: as maps, whose names stand in the
// tags of the structs, so any tool can read them. None of this is on the path of a
// hand-over. Frames that are (package wire) are appended by hand in the same format.
//
//	b := control.Message{Lost: &control.Lost{Node: 2, Why: "silent"}}.Bytes()
//	m, err := control.Parse(b)
//
// [Version] changes with the meaning of any message. Parsing refuses other versions, fields
// that this version does not have, and bytes behind the end. It never panics, and memory
// follows what has come, not what a length claims (at most 1 MB ahead).
package control
