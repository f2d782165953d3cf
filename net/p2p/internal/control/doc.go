// Package control is what nodes say to each other about the run: which nodes are there,
// what is gathered, whose memory can be mapped. A [Message] travels as the header of
// a parcel; a list travels as its bulk.
//
// Package pack encodes and decodes them: as maps of msgpack, whose names stand in the tags
// of the structs. None of this is on the path of a hand-over.
//
//	b := control.Message{Give: &control.Gathering{Name: "plan", Round: 1}}.Bytes()
//	m, err := control.Parse(b)
//
// [Version] changes with the meaning of any message. Parsing refuses other versions, fields
// that this version does not have, and bytes behind the end.
package control
