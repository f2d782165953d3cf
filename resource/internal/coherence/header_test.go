package coherence

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/net/wire"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// parsed is the message of a header.
func parsed(b []byte) (m Message, err error) {
	if err := ParseInto(b, &m); err != nil {
		return Message{}, err
	}
	return m, nil
}

// headers are messages of all kinds, small and large.
func headers() []Message {
	most := ^uint64(0)
	return []Message{
		{Kind: RequestMessage, Resource: 7, Incarnation: 1, Epoch: 1, Seq: 1, ID: 1, Mode: Write, Known: 3, Order: 12},
		{Kind: RenewMessage, Resource: most, Incarnation: most, Epoch: most, Seq: most, ID: ID(most), Old: ID(most),
			Stamp: Stamp{Fence: most}, Known: most, Wrote: true, Size: 1 << 30, Spans: []Span{{0, 8}, {1 << 20, 1 << 19}}},
		{Kind: ReleaseMessage, Resource: 300, ID: 70000, Stamp: Stamp{Fence: 1 << 33}, Wrote: true, Whole: true, Size: 64},
		{Kind: ReleaseMessage, Resource: 300, ID: 70000, Reason: Abandoned},
		{Kind: CancelMessage, Seq: 200, ID: 1},
		{Kind: GrantMessage, Mode: Read, IDs: []ID{1, 200, 1 << 40}, Stamp: Stamp{Version: 5, Fence: 6, Prior: PriorPoisoned}, Whole: true, Size: 8},
		{Kind: PushMessage, Stamp: Stamp{Version: 70000, Prior: PriorLost}, Whole: true, Size: 1 << 40},
		{Kind: GrantMessage, Mode: Write, IDs: []ID{1}, Alone: true},
		{Kind: RefusedMessage, Reason: AnotherEpoch, Epoch: 1 << 31},
		{Kind: RecallMessage, Seq: 9},
		{Kind: ConfirmMessage, Seq: 10, Stamp: Stamp{Fence: 3}},
		{Kind: ConfirmedMessage, Seq: 10, Stamp: Stamp{Fence: 3}},
	}
}

// Parsing a header returns the message, without its node and its bytes. A header that
// is cut or has a byte more is refused.
func TestHeaders(t *testing.T) {
	largest := []Message{
		{Kind: GrantMessage, IDs: slices.Repeat([]ID{1}, mostIDs), Size: 1 << 62},
		{Kind: ReleaseMessage, Wrote: true, Spans: slices.Repeat([]Span{{1, 0}}, mostSpans)},
	}
	for _, m := range append(headers(), largest...) {
		b := AppendHeader([]byte("before"), &m)[len("before"):]
		got, err := parsed(b)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v comes out as %+v, %v", m, got, err)
		}
		for i := range min(len(b), 400) {
			if got, err := parsed(b[:i]); !errors.Is(err, ErrMalformed) {
				t.Errorf("%v: %d of %d bytes are %v, %v", &m, i, len(b), &got, err)
			}
		}
		if _, err := parsed(append(b, 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%v and a byte: %v", &m, err)
		}
	}
}

// A header's claims are checked before anything is allocated for it.
func TestHeadersClaimInVain(t *testing.T) {
	head := func(kind Kind, bits, size, reason uint64) []byte {
		b := wire.AppendArray(nil, headerFields)
		for _, v := range []uint64{uint64(kind), bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, size, reason} {
			b = wire.AppendUint(b, v)
		}
		return b
	}
	empty := func(b []byte) []byte { return wire.AppendArray(wire.AppendArray(b, 0), 0) }
	many := append(wire.AppendArray(head(GrantMessage, 0, 0, 0), mostIDs+1), make([]byte, mostIDs+1)...)
	for name, b := range map[string][]byte{
		"no kind":            empty(head(0, 0, 0, 0)),
		"a kind too many":    empty(head(ConfirmedMessage+1, 0, 0, 0)),
		"bits":               empty(head(RequestMessage, 64, 0, 0)),
		"prior":              empty(head(GrantMessage, 6, 0, 0)),
		"size":               empty(head(RequestMessage, 0, 1<<63, 0)),
		"reason":             empty(head(RefusedMessage, 0, 0, 100)),
		"requests":           wire.AppendArray(many, 0),
		"requests not there": wire.AppendArray(head(GrantMessage, 0, 0, 0), 1<<31),
		"half a span":        append(wire.AppendArray(wire.AppendArray(head(RequestMessage, 0, 0, 0), 0), 1), 1),
		"spans":              append(wire.AppendArray(wire.AppendArray(head(RequestMessage, 0, 0, 0), 0), 2*mostSpans+2), make([]byte, 2*mostSpans+2)...),
		"a field more":       append(wire.AppendArray(nil, headerFields+1), empty(head(RequestMessage, 0, 1<<40, 0))[len(wire.AppendArray(nil, headerFields)):]...),
		"a field less":       wire.AppendArray(nil, headerFields-1),
	} {
		if m, err := parsed(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", name, &m, err)
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = parsed(b) }); n > 40 { // the error's text
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if m, err := parsed(empty(head(RequestMessage, 0, 0, 0))); err != nil {
		t.Errorf("what is right: %v, %v", &m, err)
	}
}

// Parsing into a used message leaves nothing of the old one.
func TestHeaderAfterAnother(t *testing.T) {
	for _, before := range headers() {
		for _, m := range headers() {
			var got Message
			ok(t, ParseInto(AppendHeader(nil, &before), &got))
			ok(t, ParseInto(AppendHeader(nil, &m), &got))
			want, err := parsed(AppendHeader(nil, &m))
			ok(t, err)
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("after %v: %+v, want %+v", &before, got, want)
			}
		}
	}
}

// Parsing never panics, and a header that parses is written again as it was.
func FuzzParseHeader(f *testing.F) {
	for _, m := range headers() {
		f.Add(AppendHeader(nil, &m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parsed(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		_ = m.String()
		again := AppendHeader(nil, &m)
		if n, err := parsed(again); err != nil || !bytes.Equal(AppendHeader(nil, &n), again) {
			t.Fatalf("%+v comes out as %+v, %v", m, n, err)
		}
	})
}

func BenchmarkHeader(b *testing.B) {
	m := Message{Kind: RenewMessage, Resource: 1 << 63, Incarnation: 1 << 60, Epoch: 1, Seq: 1000, ID: 1000, Old: 999, Mode: Write, Stamp: Stamp{Fence: 1000}, Known: 1000}
	header := AppendHeader(nil, &m)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			header = AppendHeader(header[:0], &m)
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parsed(header); err != nil {
				b.Fatal(err)
			}
		}
	})
}
