package table

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/net/wire"
)

// TestMessages encodes what nodes tell each other, and decodes it.
func TestMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOp(t, 1000)
		if o.If != Equal {
			o.Compare = nil
		}
		b := o.encode(nil)
		var got Op
		r := wire.NewReader(b)
		if err := errors.Join(got.parse(&r), r.Done()); err != nil || !sameOp(got, o) {
			t.Fatalf("%+v became %+v, %v", o, got, err)
		}
		if n := (byteOps{ops: []Op{o}}).length(0); len(b) > n {
			t.Fatalf("%+v takes %d bytes, length says %d", o, len(b), n)
		}
		for n := range b {
			r := wire.NewReader(b[:n])
			if err := got.parse(&r); !errors.Is(err, errMalformed) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
		}
		result := Result{
			Value: []byte(rapid.String().Draw(t, "value")), Number: rapid.Int64().Draw(t, "number"),
			Expires: max(0, rapid.Int64().Draw(t, "expires")), Found: rapid.Bool().Draw(t, "found"), Done: rapid.Bool().Draw(t, "done"),
			Err: rapid.SampledFrom([]error{nil, ErrFull, ErrTooLong, ErrNotInteger, ErrOverflow, ErrOp, ErrLater}).Draw(t, "error"),
		}
		var back Result
		r = wire.NewReader(result.encode(nil))
		if err := errors.Join(back.parse(&r, new(Options), false), r.Done()); err != nil || !same(back, result) {
			t.Fatalf("%+v became %+v, %v", result, back, err)
		}
	})
}

func sameOp(a, b Op) bool {
	for _, o := range []*Op{&a, &b} {
		for _, f := range []*[]byte{&o.Key, &o.Value, &o.Compare} {
			*f = append([]byte{}, *f...)
		}
	}
	return reflect.DeepEqual(a, b)
}

// TestToldErrors lets errors travel: they match what they did, and say as much.
func TestToldErrors(t *testing.T) {
	full := &remoteError{text: "volume 7: full to the last cell", is: ErrFull}
	for _, err := range []error{ErrFull, full, ErrNotInteger, errors.New("something else")} {
		var got Result
		r := wire.NewReader((&Result{Err: err}).encode(nil))
		if bad := got.parse(&r, new(Options), false); bad != nil || got.Err == nil || got.Err.Error() != err.Error() || errors.Is(got.Err, ErrFull) != errors.Is(err, ErrFull) {
			t.Errorf("%v became %v, %v", err, got.Err, bad)
		}
	}
}

func TestZigzag(t *testing.T) {
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		if got := unzigzag(zigzag(n)); got != n {
			t.Errorf("%d became %d", n, got)
		}
	}
}

// FuzzMessages gives a table of two nodes arbitrary bytes as a message of the other. A message
// is well-formed, or it is an error. The table is sound and works afterwards.
func FuzzMessages(f *testing.F) {
	op := (&Op{Kind: Set, Key: []byte("key"), Value: []byte("value"), Expires: 1}).encode(nil)
	for what := range messageEnd {
		for _, body := range [][]byte{nil, op, {0, 10}, bytes.Repeat(op, 3)} {
			f.Add(head{what, 1, 0, 1}.encode(nil), body)
		}
	}
	nodes := crew(f, 2)
	table := newStrings(f, Options{Volumes: 2, First: leastVolume, Most: 64 << 10}, nodes...)[0]
	f.Fuzz(func(t *testing.T, header, body []byte) {
		if h, err := parseHead(header, len(body)); err == nil && h.what == gone {
			return // it would be believed
		}
		before := bytes.Clone(body)
		if err := table.others.deliver(1, header, body); err != nil && !errors.Is(err, errMalformed) && !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("deliver: %v", err)
		}
		if !bytes.Equal(before, body) {
			t.Error("the message was changed")
		}
		table.sound(t)
	})
}
