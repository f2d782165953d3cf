package coherence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
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
		{Kind: RequestMessage, Resource: 7, Incarnation: 1, Seq: 1, ID: 1, Mode: Write, Known: 3},
		{Kind: RenewMessage, Resource: most, Incarnation: most, Seq: most, ID: ID(most), Old: ID(most),
			Stamp: Stamp{Fence: most}, Known: most, Wrote: true, Whole: true, Size: 1 << 30},
		{Kind: ReleaseMessage, Resource: 300, ID: 70000, Stamp: Stamp{Fence: 1 << 33}, Wrote: true, Whole: true, Size: 64},
		{Kind: ReleaseMessage, Resource: 300, ID: 70000, Reason: Abandoned},
		{Kind: CancelMessage, Seq: 200, ID: 1},
		{Kind: GrantMessage, Mode: Read, IDs: []ID{1, 200, 1 << 40}, Stamp: Stamp{Version: 5, Fence: 6, Prior: PriorPoisoned}, Whole: true, Size: 8},
		{Kind: GrantMessage, Mode: Write, IDs: []ID{1}, Stamp: Stamp{Version: 70000, Prior: PriorLost}, Whole: true, Size: 1 << 40},
		{Kind: RefusedMessage, Reason: Ended},
		{Kind: ConfirmMessage, Seq: 10, Stamp: Stamp{Fence: 3}},
		{Kind: ConfirmedMessage, Seq: 10, Stamp: Stamp{Fence: 3}},
	}
}

// Parsing a header returns the message, without its node and its bytes. A header that
// is cut or has a byte more is refused.
func TestHeaders(t *testing.T) {
	largest := []Message{
		{Kind: GrantMessage, IDs: slices.Repeat([]ID{1}, mostIDs), Size: 1 << 62},
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

// plainly are the integers of a header, in its order.
func plainly(m *Message) []uint64 {
	bits := uint64(m.Mode) | uint64(m.Prior)<<1
	for i, set := range []bool{m.Wrote, m.Whole} {
		if set {
			bits |= 8 << i
		}
	}
	all := []uint64{
		uint64(m.Kind), bits, uint64(m.Reason), m.Resource, m.Incarnation, m.Seq, uint64(m.ID), uint64(m.Old),
		m.Version, m.Fence, m.Known, uint64(m.Size), uint64(len(m.IDs)),
	}
	for _, id := range m.IDs {
		all = append(all, uint64(id))
	}
	return all
}

// encoded is a header as the msgpack library writes it: the first three integers in their
// shortest form, the others in their longest. The length of the array is in its longest form.
func encoded(t *testing.T, all []uint64) []byte {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	b.WriteByte(array32)
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(all))))
	for i, v := range all {
		if i < 3 {
			ok(t, e.EncodeUint(v))
		} else {
			ok(t, e.EncodeUint64(v))
		}
	}
	return b.Bytes()
}

// A header is msgpack: a library reads it, and writes the same bytes.
func TestLibraryKnowsHeaders(t *testing.T) {
	for _, m := range headers() {
		want := plainly(&m)
		header := AppendHeader(nil, &m)
		rest := bytes.NewReader(header)
		var got []uint64
		if err := msgpack.NewDecoder(rest).Decode(&got); err != nil || rest.Len() > 0 || !slices.Equal(got, want) {
			t.Errorf("%v: the library reads %d, %v, want %d; %d bytes are left", &m, got, err, want, rest.Len())
		}
		if by := encoded(t, want); !bytes.Equal(by, header) {
			t.Errorf("%v: we write\n%x, the library\n%x", &m, header, by)
		}
	}
}

// A header's claims are checked before anything is allocated for it.
func TestHeadersClaimInVain(t *testing.T) {
	head := func(kind Kind, bits, size, reason, ids uint64, lists ...uint64) []byte {
		all := []uint64{uint64(kind), bits, reason, 0, 0, 0, 0, 0, 0, 0, 0, size, ids}
		return encoded(t, append(all, lists...))
	}
	with := func(at int, to byte) []byte {
		b := head(RequestMessage, 0, 0, 0, 0)
		b[at] = to
		return b
	}
	for name, b := range map[string][]byte{
		"no kind":             head(0, 0, 0, 0, 0),
		"a kind too many":     head(ConfirmedMessage+1, 0, 0, 0, 0),
		"bits":                head(RequestMessage, 32, 0, 0, 0),
		"prior":               head(GrantMessage, 6, 0, 0, 0),
		"size":                head(RequestMessage, 0, 1<<62+1, 0, 0),
		"reason":              head(RefusedMessage, 0, 0, uint64(Abandoned)+1, 0),
		"requests":            head(GrantMessage, 0, 0, 0, mostIDs+1, make([]uint64, mostIDs+1)...),
		"requests not there":  head(GrantMessage, 0, 0, 0, 1<<63),
		"a request too few":   head(GrantMessage, 0, 0, 0, 3, 1, 2),
		"a request too many":  head(GrantMessage, 0, 0, 0, 1, 1, 1),
		"too few fields":      encoded(t, []uint64{uint64(RequestMessage), 0, 0, 0, 0}),
		"the form of a field": append(head(RequestMessage, 0, 0, 0, 0), uint64Form),
		"no array":            with(0, 0xdc),
		"a field less":        with(4, 12),
		"a field more":        with(4, 14),
		"very many fields":    with(1, 0xff),
		"another form":        with(wordsAt, 0xd3),
		"another form later":  with(wordsAt+9*word, 0xd3),
	} {
		if m, err := parsed(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", name, &m, err)
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = parsed(b) }); n > 40 { // the error's text
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for name, b := range map[string][]byte{
		"plain":              head(RequestMessage, 0, 0, 0, 0),
		"the greatest":       head(ConfirmedMessage, 0, 1<<62, uint64(Abandoned), 1, 1),
		"all bits but prior": head(GrantMessage, 0b11101, 0, 0, 0),
	} {
		if m, err := parsed(b); err != nil {
			t.Errorf("%s: %v, %v", name, &m, err)
		}
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
		if again := AppendHeader(nil, &m); !bytes.Equal(again, b) {
			t.Fatalf("%x comes out as %x", b, again)
		}
	})
}

func BenchmarkHeader(b *testing.B) {
	m := Message{Kind: RenewMessage, Resource: 1 << 63, Incarnation: 1 << 60, Seq: 1000, ID: 1000, Old: 999, Mode: Write, Stamp: Stamp{Fence: 1000}, Known: 1000}
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
