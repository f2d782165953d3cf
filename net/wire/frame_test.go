package wire_test

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// TestRoundTrip writes and reads frames of every kind.
func TestRoundTrip(t *testing.T) {
	for _, s := range specimens() {
		h, body, err := parse(s.bytes)
		if err != nil || h != s.head || !reflect.DeepEqual(body, s.body) {
			t.Fatalf("%v: wrote %+v, read %+v, %+v, %v", s.head, s.body, h, body, err)
		}
	}
}

// TestPrefixes cuts every frame everywhere: its size is unknown, or known to be more
// than there is; and if the size lies, the header is malformed.
func TestPrefixes(t *testing.T) {
	for _, s := range specimens() {
		whole := len(s.bytes)
		for n := range whole {
			if n > 100 && n < whole-100 {
				continue // in the middle of text
			}
			size, err := wire.HeaderSize(s.bytes[:n])
			if want := whole; err != nil || size != want && (n >= 4 || size != 0) {
				t.Fatalf("%v of %d bytes, cut at %d: size %d, %v", s.head, whole, n, size, err)
			}
			if n < 4 {
				continue
			}
			h, r, err := wire.ParseHead(s.bytes[4:n], wire.MaxBulk)
			if err == nil {
				_, err = parseBody(h.Kind, r)
			}
			if !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("%v of %d bytes, cut at %d: %v", s.head, whole, n, err)
			}
		}
	}
}

// TestFields gives every body a field more and a field less than it has.
func TestFields(t *testing.T) {
	for _, s := range specimens() {
		for _, fields := range []int{len(s.fields) - 1, len(s.fields) + 1} {
			if fields < 0 || fields > 12 {
				continue
			}
			b := bytes.Clone(s.bytes)
			b[4] = 0x90 | byte(3+fields)
			if fields > len(s.fields) {
				b = append(b, 0)
				b[0]++
				if b[0] == 0 {
					b[1]++
				}
			}
			if _, _, err := parse(b); !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("%v with %d fields: %v", s.head, fields, err)
			}
		}
	}
}

// header is a frame's header where every element is an integer.
func header(elements ...uint64) []byte {
	b := wire.AppendArray(make([]byte, 4), len(elements))
	for _, v := range elements {
		b = wire.AppendUint(b, v)
	}
	b[0] = byte(len(b) - 4)
	return b
}

// TestRefused are headers that no node writes.
func TestRefused(t *testing.T) {
	const (
		hello    = uint64(wire.KindHello)
		refuse   = uint64(wire.KindRefuse)
		ack      = uint64(wire.KindAck)
		bye      = uint64(wire.KindBye)
		parcel   = uint64(wire.KindParcel)
		reply    = uint64(wire.KindReply)
		put      = uint64(wire.KindPut)
		getBytes = uint64(wire.KindGetBytes)
	)
	for _, c := range []struct {
		name  string
		frame []byte
		want  error
	}{
		{"header too large", []byte{1, 0, 16, 0}, wire.ErrTooLarge},
		{"header of nearly 4 GiB", []byte{255, 255, 255, 255}, wire.ErrTooLarge},
		{"header of nothing", []byte{0, 0, 0, 0}, wire.ErrMalformed},
		{"header too small", []byte{4, 0, 0, 0, 0x94, 1, 0, 0}, wire.ErrMalformed},
		{"a rank too high", header(put, 1, 0, 1<<31, 0, 0, 0), wire.ErrMalformed},
		{"status", header(reply, 1, 0, 0, 0, uint64(wire.Closed)+1, 0), wire.ErrMalformed},
		{"length", header(getBytes, 1, 0, 0, 0, 0, wire.MaxBulk+1), wire.ErrMalformed},
		{"integer for text", header(refuse, 0, 0, 7), wire.ErrMalformed},
		{"integer for words", header(hello, 0, 0, wire.Version, 7), wire.ErrMalformed},
		{"no words", header(hello, 0, 0, wire.Version), wire.ErrMalformed},
		{"too many words", header(hello, 0, 0, wire.Version, 7, 7), wire.ErrMalformed},
		{"integer for bytes", header(parcel, 1, 0, 7, 7), wire.ErrMalformed},
	} {
		if _, _, err := parse(c.frame); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name   string
		header []byte
		want   error
	}{
		{"no kind", header(0, 0, 0), wire.ErrMalformed},
		{"unknown kind", header(getBytes+1, 1, 0, 0, 0), wire.ErrMalformed},
		{"a kind beyond a byte", header(256+ack, 0, 0, 7), wire.ErrMalformed},
		{"ack with number", header(ack, 1, 0, 7), wire.ErrMalformed},
		{"parcel without number", header(parcel, 0, 0, 7, 7), wire.ErrMalformed},
		{"bulk too large", header(parcel, 1, wire.MaxBulk+1, 7, 7), wire.ErrTooLarge},
		{"bulk of nearly everything", header(parcel, 1, 1<<64-1, 7, 7), wire.ErrTooLarge},
		{"put with bulk", header(put, 1, 8, 0, 0, 0, 0), wire.ErrMalformed},
		{"nothing", make([]byte, 4), wire.ErrMalformed},
		{"no array", []byte{5, 0, 0, 0, 1, 2, 3, 4, 5}, wire.ErrMalformed},
		{"loan with bulk", header(uint64(wire.KindLoan), 1, 8, 7, 7, 0, 8), wire.ErrMalformed},
		{"an array of more than there is", []byte{5, 0, 0, 0, 0xdd, 255, 255, 255, 255}, wire.ErrMalformed},
		{"a field that is not there", []byte{4, 0, 0, 0, 0x94, byte(bye), 1, 0}, wire.ErrMalformed},
		{"fewer than a head's fields, and no number", []byte{5, 0, 0, 0, 0x91, byte(bye), 0xcf, 0, 0}, wire.ErrMalformed},
		{"too few fields for a head", []byte{4, 0, 0, 0, 0x92, byte(bye), 1, 0}, wire.ErrMalformed},
	} {
		if _, _, err := wire.ParseHead(c.header[4:], wire.MaxBulk); !errors.Is(err, c.want) {
			t.Errorf("the head of %s: %v, want %v", c.name, err, c.want)
		}
	}
	if err := new(wire.Operation).Parse(wire.KindReply, wire.NewReader(nil)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("a reply read as an operation: %v", err)
	}
}

// TestAnotherVersion reads a hello of an unknown version.
func TestAnotherVersion(t *testing.T) {
	for _, frame := range [][]byte{
		header(uint64(wire.KindHello), 0, 0, wire.Version-1),
		header(uint64(wire.KindHello), 0, 0, wire.Version+1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
	} {
		_, body, err := parse(frame)
		if f := body.(*wire.Hello); err != nil || f.Version == wire.Version || *f != (wire.Hello{Version: f.Version}) {
			t.Errorf("%v, %v", f, err)
		}
	}
	if _, _, err := parse(header(uint64(wire.KindHello), 0, 0)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("a hello without a version: %v", err)
	}
}

// TestBulkLimit asks for less than MaxBulk.
func TestBulkLimit(t *testing.T) {
	b := header(uint64(wire.KindParcel), 1, 100, 7, 7)
	for most, want := range map[int]error{100: nil, 99: wire.ErrTooLarge, 0: wire.ErrTooLarge, -1: wire.ErrTooLarge} {
		if _, _, err := wire.ParseHead(b[4:], most); !errors.Is(err, want) {
			t.Errorf("100 bytes where %d are allowed: %v", most, err)
		}
	}
}

// TestLongText refuses text beyond the limit, and does not copy it first.
func TestLongText(t *testing.T) {
	reason := bytes.Repeat([]byte("n"), wire.MaxHeader/2)
	refuse := wire.Refuse{Reason: string(reason)}
	if _, body, err := parse(refuse.Append(nil)); err != nil || len(body.(*wire.Refuse).Reason) != wire.MaxText {
		t.Errorf("a long reason is not cut to size: %v", err)
	}
	b := wire.AppendString([]byte{0x95, byte(wire.KindRefuse), 0, 0, 0}, refuse.Reason)
	_, r, err := wire.ParseHead(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := allocated(func() {
		if err := new(wire.Refuse).Parse(r); !errors.Is(err, wire.ErrMalformed) {
			t.Error(err)
		}
	}); n > wire.MaxHeader/8 {
		t.Errorf("%d bytes are allocated to refuse a text", n)
	}
}

// allocated is how many bytes of memory a function takes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAllocations counts the allocations of the frequent frames: none.
func TestAllocations(t *testing.T) {
	head := wire.Head{Kind: wire.KindFetchOp, Number: 1 << 40}
	op := wire.Operation{Origin: 1, Target: 2, Disp: 3, A: 4}
	reply := wire.Reply{Origin: 1, Call: 1 << 40, Value: 5}
	parcel := wire.Parcel{Channel: 1, Header: make([]byte, 300)}
	beat, ack := wire.Beat{Sent: 1 << 60}, wire.Ack{Number: 1 << 40}
	b := make([]byte, 0, 4096)
	checked := func(h wire.Head, r wire.Reader, err error) wire.Reader {
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if n := testing.AllocsPerRun(100, func() {
		b = op.Append(b[:0], head)
		at := []int{0, len(b), 0, 0, 0, 0}
		b = reply.Append(b, head)
		at[2] = len(b)
		b = parcel.Append(b, head)
		at[3] = len(b)
		b = beat.Append(b)
		at[4] = len(b)
		b = ack.Append(b)
		at[5] = len(b)
		body := func(i int) wire.Reader { return checked(wire.ParseHead(b[at[i]+4:at[i+1]], 0)) }
		for i, err := range [...]error{op.Parse(wire.KindFetchOp, body(0)), reply.Parse(body(1)), parcel.Parse(body(2)), beat.Parse(body(3)), ack.Parse(body(4))} {
			if err != nil {
				t.Fatal(i, err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations for five frames", n)
	}
}

// TestUntil takes an Await's condition apart and puts it together again.
func TestUntil(t *testing.T) {
	u := rma.Below(9).Masked(0xff)
	op := wire.Operation{A: u.Value, B: u.Mask, C: uint64(u.Rel)}
	if op.Until() != u {
		t.Errorf("%v became %v", u, op.Until())
	}
}

// TestLoanLengths are lengths at the limits, and beyond them.
func TestLoanLengths(t *testing.T) {
	for length, want := range map[int]error{
		0: wire.ErrMalformed, 1: nil, wire.MaxBulk: nil, wire.MaxBulk + 1: wire.ErrMalformed,
	} {
		f := wire.Loan{Parcel: wire.Parcel{Channel: 1}, Offset: 1<<64 - 1, Length: length}
		if _, _, err := parse(f.Append(nil, wire.Head{Number: 1})); !errors.Is(err, want) {
			t.Errorf("a loan of %d bytes: %v, want %v", length, err, want)
		}
	}
}

// A FetchOp in the middle of a run: goals are 15 ns to write it and 25 to read it.
func BenchmarkOperation(b *testing.B) {
	op := wire.Operation{Origin: 17, Target: 42, Disp: 1000, A: 1, B: uint64(rma.Sum)}
	head := wire.Head{Kind: wire.KindFetchOp, Number: 1 << 20}
	frame := op.Append(nil, head)
	b.Run("append", func(b *testing.B) {
		buffer := make([]byte, 0, 64)
		for b.Loop() {
			buffer = op.Append(buffer[:0], head)
		}
	})
	b.Run("parse", func(b *testing.B) {
		var got wire.Operation
		for b.Loop() {
			n, err := wire.HeaderSize(frame)
			if err != nil {
				b.Fatal(err)
			}
			h, body, err := wire.ParseHead(frame[4:n], 0)
			if err != nil {
				b.Fatal(err)
			}
			if err := got.Parse(h.Kind, body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
