package resp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// tape is a connection whose client has said everything beforehand, in pieces, and
// remembers what it heard.
type tape struct {
	pieces  [][]byte
	heard   bytes.Buffer
	longest int // of the buffers that the server reads into
}

func (p *tape) Read(b []byte) (int, error) {
	p.longest = max(p.longest, len(b))
	for len(p.pieces) > 0 && len(p.pieces[0]) == 0 {
		p.pieces = p.pieces[1:]
	}
	if len(p.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.pieces[0])
	p.pieces[0] = p.pieces[0][n:]
	return n, nil
}

func (p *tape) Write(b []byte) (int, error)      { return p.heard.Write(b) }
func (p *tape) Close() error                     { return nil }
func (p *tape) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (p *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }
func (p *tape) SetDeadline(time.Time) error      { return nil }
func (p *tape) SetReadDeadline(time.Time) error  { return nil }
func (p *tape) SetWriteDeadline(time.Time) error { return nil }

// heard is what a new server answers to the pieces, and what its connection was when
// it ended. It must not take more memory than its options say.
func heard(t testing.TB, o Options, pieces ...[]byte) string {
	t.Helper()
	f := newFake()
	f.most = 4096
	o.Store, o.Now = f, f.now.Load
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	delete(s.table, "info") // tells of memory, which is never the same
	p := &tape{pieces: pieces}
	c := s.newConn(p, 1)
	s.conns[c] = struct{}{}
	c.serve()
	s.Close()
	if most := s.options.Request + pipelineBuffer; p.longest > most || c.reader.buf != nil {
		t.Errorf("the read buffer had %d bytes, want at most %d, and has %d in the end", p.longest, most, len(c.reader.buf))
	}
	return p.heard.String()
}

// BenchmarkPipeline reads, executes and answers on one core, without a network.
func BenchmarkPipeline(b *testing.B) {
	for _, name := range []string{"GET", "SET"} {
		b.Run(name, func(b *testing.B) {
			f := newFake()
			s, err := New(Options{Store: f})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			const deep = 16
			value := []string{"xxx"}
			if name == "GET" {
				value = nil
			}
			var text []byte
			for i := range deep {
				text = append(text, array(append([]string{name, fmt.Sprintf("key:%012d", i)}, value...)...)...)
			}
			p := &tape{}
			c := s.newConn(p, 1)
			for b.Loop() {
				p.pieces = append(p.pieces[:0], text)
				p.heard.Reset()
				if c.wait() != nil || c.pipeline() != nil {
					b.Fatal("the pipeline ended")
				}
				c.flush()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deep, "ns/command")
		})
	}
}
