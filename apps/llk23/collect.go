package main

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/orwl/go-orwl/orwl"
)

// In the end node 0 gets all blocks, and what the other nodes have to say of
// themselves: each has a task that sends it through a pipe, and node 0 one for each
// that receives it. So it never has more than one whole matrix, since its own
// coefficients are gone by then, and no other node has more than its own blocks.

// errCollected is matched by what is wrong with what a node has sent.
var errCollected = errors.New("no result that fits")

// declareCollection declares the tasks that bring everything to node 0.
func (f *field) declareCollection(rt *orwl.Runtime) {
	for node := 1; node < f.nodes.Count(); node++ {
		bytes := int64(0)
		for p := range f.of(node) {
			bytes += 8 * int64(p.extent.above+p.extent.rows+2) * int64(p.extent.cols+2)
		}
		pipe := rt.Resource(fmt.Sprintf("result of node %d", node), pipeSize(bytes))
		from := rt.Task(fmt.Sprintf("sender on node %d", node)).On(node)
		w := from.Write(pipe)
		from.Do(func(t *orwl.Task) error { return f.send(&pipeWriter{Access: w, ctx: t.Context()}) })
		to := rt.Task(fmt.Sprintf("receiver of node %d", node)).On(0)
		r := to.Read(pipe)
		to.Do(func(t *orwl.Task) error { return f.receive(node, &pipeReader{Access: r, ctx: t.Context()}) })
	}
}

// close makes this node's statement, and waits until all nodes have swept their
// blocks: what comes afterwards is no part of what is measured.
func (f *field) close(ctx context.Context) error {
	f.closing.Do(func() {
		f.own = f.statement()
		_, f.closed = f.nodes.Gather(ctx, "swept", nil)
	})
	return f.closed
}

// send sends this node's statement, and its blocks.
func (f *field) send(w *pipeWriter) error {
	if err := f.close(w.ctx); err != nil {
		return err
	}
	if err := gob.NewEncoder(w).Encode(f.own); err != nil {
		return err
	}
	for p := range f.here() {
		if _, err := w.Write(bytesOf(p.block.planes[planeData].cells)); err != nil {
			return err
		}
	}
	return w.Close()
}

// receive receives the blocks of another node.
func (f *field) receive(node int, from *pipeReader) error {
	if err := f.close(from.ctx); err != nil {
		return err
	}
	r := bufio.NewReader(from)
	s := &f.others[node-1]
	if err := gob.NewDecoder(r).Decode(s); err != nil {
		return fmt.Errorf("%w: node %d: %w", errCollected, node, err)
	}
	for p := range f.of(node) {
		b := &block{extent: p.extent}
		b.planes[planeData] = newMatrix(p.extent.above+p.extent.rows+2, p.extent.cols+2)
		if _, err := io.ReadFull(r, bytesOf(b.planes[planeData].cells)); err != nil {
			return fmt.Errorf("%w: %v of node %d: %w", errCollected, p, node, err)
		}
		p.block = b
	}
	if _, err := r.ReadByte(); err == nil {
		return fmt.Errorf("%w: node %d has sent more than its blocks", errCollected, node)
	} else if err != io.EOF {
		return fmt.Errorf("%w: node %d: %w", errCollected, node, err)
	}
	return nil
}
