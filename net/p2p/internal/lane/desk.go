package lane

// desk gives a stream's writing to one goroutine at a time: a step function beside engine.Link, without
// input and output. Lane.mu is held for each step.
//
//	         begin              end
//	free ──────────▶ writing ────────▶ free
//
// One goroutine at a time owns the desk, from begin to end, and only that one writes. Mostly
// it is the stream's writer. A goroutine that has just appended an answer takes the desk
// itself if direct says so: that saves the way through the writer.
type desk struct {
	writing bool   // a goroutine owns the desk
	crowded bool   // several frames went in the writer's last write
	turn    bool   // a frame was received since the last write
	last    uint64 // the number of the next frame, at the last write
}

// directUpTo is how many bytes may be on their way if the goroutine that issues one more frame
// also writes it. The other end of yamux tells when half of its window is free. directUpTo is
// less than the rest of the smallest window before that, so the write does not block.
const directUpTo = 64 << 10

// direct reports whether a goroutine that has appended a frame writes it, with so many
// bytes on their way. If a frame was received since the last write, and no other goroutine
// has anything to say, then this one is the answer to it, or the next question.
func (d *desk) direct(kept int) bool {
	return d.turn && !d.crowded && !d.writing && kept <= directUpTo
}

// begin takes the desk. Next is the number of the next frame. Only the writer itself
// learns whether frames crowd.
func (d *desk) begin(next uint64, writer bool) {
	if writer {
		d.crowded = next > d.last+1
	}
	d.last, d.turn, d.writing = next, false, true
}

// end gives the desk back.
func (d *desk) end() { d.writing = false }

// received notes that a frame has come.
func (d *desk) received() { d.turn = true }
