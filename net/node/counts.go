package node

import "sync/atomic"

// Counts are what has happened to the connections of a node. They may be read at any time.
type Counts struct {
	FramesIn atomic.Uint64 // that were read from streams; see Traffic for their kinds
	BytesIn  atomic.Uint64 // that were read from streams, headers included
	Writes   atomic.Uint64 // to streams, of many frames each when there is much to say
	BytesOut atomic.Uint64 // that were written; some again, after a stream broke

	Streams    atomic.Uint64 // that were opened or accepted
	Retries    atomic.Uint64 // frames that are written again, after a stream broke
	Resumes    atomic.Uint64 // of them, those that went on where another had broken
	Duplicates atomic.Uint64 // frames that came again, after that

	Neighbours     atomic.Uint64 // nodes of this machine that have mapped this one's memory
	Lent, Borrowed atomic.Uint64 // parcels whose bulk was read where it lay

	Strangers atomic.Uint64 // connections from outside the run, or without an identity in time; closed
	Refused   atomic.Uint64 // streams of nodes of the run that may not join, closed
	Malformed atomic.Uint64 // frames that are none, out of turn, or make no sense; the stream was closed
	Oversize  atomic.Uint64 // frames that claim too much; the stream was closed
	Checksums atomic.Uint64 // frames whose bulk is not what was sent; the stream was closed

	Lost atomic.Uint64 // nodes
	Left atomic.Uint64 // nodes
}
