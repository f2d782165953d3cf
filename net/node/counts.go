package node

import "sync/atomic"

// Counts are what has happened to the connections of a node. They may be read at any time.
type Counts struct {
	FramesIn atomic.Uint64 // frames read from streams; see Traffic for their kinds
	BytesIn  atomic.Uint64 // bytes read from streams, headers included
	Writes   atomic.Uint64 // writes to streams; one may have many frames
	BytesOut atomic.Uint64 // bytes written, also those written again after a stream broke

	Streams    atomic.Uint64 // streams that were opened or accepted
	Retries    atomic.Uint64 // frames written again after a stream broke
	Resumes    atomic.Uint64 // streams that took the place of a broken one
	Duplicates atomic.Uint64 // frames that came again after a stream broke

	Neighbours     atomic.Uint64 // nodes of this machine that have mapped this one's memory
	Lent, Borrowed atomic.Uint64 // parcels whose bulk the receiver read in the sender's memory

	Strangers atomic.Uint64 // connections from outside the run, or without an identity in time; closed
	Refused   atomic.Uint64 // streams of nodes of the run that may not join, closed
	Malformed atomic.Uint64 // frames that cannot be read, come out of turn, or make no sense; the stream was closed
	Oversize  atomic.Uint64 // frames that claim too much; the stream was closed
	Checksums atomic.Uint64 // frames whose bulk is not what was sent; the stream was closed

	Lost atomic.Uint64 // nodes
	Left atomic.Uint64 // nodes
}
