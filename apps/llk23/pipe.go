package main

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/orwl/go-orwl/orwl"
)

// A pipe is a resource through which one task sends another, perhaps of another
// node, bytes of any number. Each round brings a chunk:
//
//	length (8 bytes) │ so many bytes │ what is left of the resource
//
// and one of length 0 is the end.
const pipeHead = 8

// pipeSize is the size of the resource of a pipe for about so many bytes: no more
// than it takes, and not so much that it is noticed beside the blocks.
func pipeSize(bytes int64) int {
	const least, most = 4 << 10, 1 << 20
	return pipeHead + int(min(max(bytes, least), most)+7)&^7
}

// pipeWriter is the end of a pipe into which bytes go.
type pipeWriter struct {
	*orwl.Access
	ctx context.Context
	// Chunk is what the next round brings, if it is held: what was not used of it
	// begins at filled.
	chunk  []byte
	filled int
}

func (w *pipeWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if err := w.turn(); err != nil {
			return n, err
		}
		copied := copy(w.chunk[w.filled:], p[n:])
		w.filled += copied
		n += copied
		if w.filled == len(w.chunk) {
			if err := w.flush(w.Next); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Close sends what there is, and the end.
func (w *pipeWriter) Close() error {
	if w.filled > 0 {
		if err := w.flush(w.Next); err != nil {
			return err
		}
	}
	if err := w.turn(); err != nil {
		return err
	}
	return w.flush(w.Release)
}

// turn waits until the last chunk was read, unless there is room in this one.
func (w *pipeWriter) turn() error {
	if w.chunk != nil {
		return nil
	}
	if err := w.Acquire(w.ctx); err != nil {
		return err
	}
	w.chunk, w.filled = orwl.Write[byte](w.Access), pipeHead
	return nil
}

// flush lets go of a chunk, in one of two ways.
func (w *pipeWriter) flush(release func() error) error {
	binary.LittleEndian.PutUint64(w.chunk, uint64(w.filled-pipeHead))
	w.chunk, w.filled = nil, 0
	return release()
}

// pipeReader is the end of a pipe from which bytes come.
type pipeReader struct {
	*orwl.Access
	ctx      context.Context
	from, to int // what has not been read of the chunk that is held; to is 0 if none is
	ended    bool
}

func (r *pipeReader) Read(p []byte) (int, error) {
	if r.ended {
		return 0, io.EOF
	}
	if r.to == 0 {
		if err := r.turn(); err != nil {
			return 0, err
		}
	}
	n := min(len(p), r.to-r.from)
	orwl.Read[byte](r.Access).Sub(r.from, r.from+n).Copy(p)
	if r.from += n; r.from < r.to {
		return n, nil
	}
	r.to = 0
	return n, r.Next()
}

// turn waits for a chunk, or ends with the last.
func (r *pipeReader) turn() error {
	if err := r.Acquire(r.ctx); err != nil {
		return err
	}
	var head [pipeHead]byte
	orwl.Read[byte](r.Access).Sub(0, pipeHead).Copy(head[:])
	length := int(binary.LittleEndian.Uint64(head[:]))
	if length == 0 {
		r.ended = true
		if err := r.Release(); err != nil {
			return err
		}
		return io.EOF
	}
	r.from, r.to = pipeHead, pipeHead+length
	return nil
}
