package folder

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// twoCuts is a disk with two whole cuts, and the newest one's file.
func twoCuts(t testing.TB) (d *memory, older, newer lives.Key, file string) {
	t.Helper()
	d = newMemory()
	older, newer = lives.Key{Life: 1, Run: 1, Round: 20}, lives.Key{Life: 1, Run: 1, Round: 40}
	nodes, err := program{1, 3}.opens(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []lives.Key{older, newer} {
		if err := errors.Join(nodes[0].save(k), nodes[0].folder.Keep(k)); err != nil {
			t.Fatal(err)
		}
	}
	if err := nodes[0].folder.Close(false); err != nil {
		t.Fatal(err)
	}
	return d, older, newer, name{newer, 0}.String()
}

// with is a folder in which a file has other bytes, and what is found there.
func with(t testing.TB, d *memory, file string, b []byte) (*Folder, Found) {
	t.Helper()
	d.files[file] = bytes.NewBuffer(b)
	d.locked = make(map[string]bool)
	f, err := Open(d, 0, digest)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Look()
	if err != nil {
		t.Fatal(err)
	}
	return f, found
}

// A newest cut with any wrong bit, or of any other length, is named and not loaded. The one before is.
func TestDamage(t *testing.T) {
	rings.Computes(t)
	d, older, newer, file := twoCuts(t)
	good := bytes.Clone(d.files[file].Bytes())
	refused := func(what string, at int, b []byte) {
		t.Helper()
		f, found := with(t, d, file, b)
		if len(found.Parts) != 1 || found.Parts[0].Key != older || found.Life != 1 || len(found.Unusable) != 1 {
			t.Fatalf("%s %d: it finds %+v", what, at, found)
		}
		if bad := found.Unusable[0]; !strings.Contains(bad.Error(), d.Path(file)) || errors.Is(bad, ErrDamaged) == errors.Is(bad, ErrOther) || strings.Count(bad.Error(), "damaged") > 1 {
			t.Fatalf("%s %d: %v", what, at, bad)
		}
		if records, err := f.Load(lives.Held{Key: newer, Tasks: 3}); err == nil || records != nil {
			t.Fatalf("%s %d: it is loaded", what, at)
		}
	}
	if _, found := with(t, d, file, good); len(found.Parts) != 2 || found.Parts[0].Key != newer || len(found.Unusable) != 0 {
		t.Fatalf("%+v", found)
	}
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			refused("flipped bit in byte", i, bad)
		}
		refused("cut at byte", i, good[:i])
		refused("no byte", i, slices.Delete(bytes.Clone(good), i, i+1))
	}
	refused("zeros, so many as", len(good), make([]byte, len(good)))
	refused("one byte more than", len(good), append(bytes.Clone(good), 0))
	refused("twice", len(good), append(bytes.Clone(good), good...))
	refused("the file before, so many bytes as", len(good), d.files[name{older, 0}.String()].Bytes())

	// It goes on from the one before, and the damaged one is removed with the cuts of its round.
	f, _ := with(t, d, file, good[1:])
	n := node{program{1, 3}, 0, f}
	for _, k := range []lives.Key{older, {Life: 2, Run: 1, Round: 20}, {Life: 2, Run: 1, Round: 40}, {Life: 2, Run: 1, Round: 60}, {Life: 2, Run: 1, Round: 80}} {
		if err := errors.Join(n.save(k), f.Keep(k)); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := f.Look(); err != nil || len(found.Parts) != 2 || len(found.Unusable) != 0 || found.Life != 2 || len(f.parts) != 2 || len(f.unusable) != 0 {
		t.Errorf("%+v, %v, and it remembers %v and %v", found, err, f.parts, f.unusable)
	}
}

// A block of another file of the same run has a checksum that does not fit.
func TestForeignBlock(t *testing.T) {
	d, older, _, file := twoCuts(t)
	good, other := d.files[file].Bytes(), d.files[name{older, 0}.String()].Bytes()
	a, b := blocks(good), blocks(other)
	if len(a) != 4 || len(b) != 4 {
		t.Fatalf("%d and %d blocks", len(a), len(b))
	}
	for i := range a {
		for k := range b {
			mixed := slices.Clone(a)
			mixed[i] = b[k]
			if _, found := with(t, d, file, join(mixed)); len(found.Parts) != 1 || !errors.Is(found.Unusable[0], ErrDamaged) {
				t.Errorf("block %d is block %d of the cut before: %+v", i, k, found)
			}
		}
	}
	a[1], a[2] = a[2], a[1]
	if _, found := with(t, d, file, join(a)); len(found.Parts) != 1 || !errors.Is(found.Unusable[0], ErrDamaged) {
		t.Errorf("two blocks have changed places: %+v", found)
	}
}

// blocks are the blocks of a file, as far as it has some.
func blocks(file []byte) (all [][]byte) {
	if len(file) < 8 {
		return nil
	}
	for rest := file[8:]; len(rest) >= 24; {
		head, bulk := binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:])
		if left := uint64(len(rest) - 24); head > left || bulk > left-head {
			break
		}
		n := 24 + head + bulk
		all, rest = append(all, rest[:n:n]), rest[n:]
	}
	return all
}

// join is a file with these blocks.
func join(blocks [][]byte) []byte {
	return append([]byte(magic+"\x02"), slices.Concat(blocks...)...)
}

// sealed is a file with these blocks and right checksums.
func sealed(blocks [][]byte) []byte {
	sum := uint64(0)
	var all [][]byte
	for _, b := range blocks {
		body := b[: len(b)-8 : len(b)-8]
		sum = checksum(sum, body)
		all = append(all, binary.LittleEndian.AppendUint64(body, sum))
	}
	return join(all)
}

// block is one with a wrong checksum.
func block(head, bulk []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(bulk)))
	return append(slices.Concat(b, head, bulk), make([]byte, 8)...)
}

// A file may have the right checksums, and yet say what no run writes.
func TestRefused(t *testing.T) {
	d, _, newer, file := twoCuts(t)
	good := blocks(d.files[file].Bytes())
	p := program{1, 3}.part(0, newer)
	head := func(change func(h *header)) []byte {
		h := header{digest, p}
		change(&h)
		return block(pack.Encode(&h), nil)
	}
	first := good[0]
	headed := func(change func(h *header)) [][]byte { return append([][]byte{head(change)}, good[1:]...) }
	with1 := func(change func(m *lives.Message)) [][]byte {
		m := message(p, record(1, newer.Round))
		change(&m)
		return [][]byte{first, good[1], block(m.Encode()), good[3]}
	}
	none := func(tasks int) [][]byte { return [][]byte{head(func(h *header) { h.Tasks = tasks })} }
	for what, c := range map[string]struct {
		blocks [][]byte
		want   error
		says   string
	}{
		"the same":                  {good, nil, ""},
		"another program":           {headed(func(h *header) { h.Program++ }), ErrOther, ""},
		"another life":              {headed(func(h *header) { h.Life++ }), ErrDamaged, ""},
		"another round":             {headed(func(h *header) { h.Round++ }), ErrDamaged, ""},
		"another run":               {headed(func(h *header) { h.Run++ }), ErrDamaged, ""},
		"another owner":             {headed(func(h *header) { h.Owner++ }), ErrDamaged, ""},
		"a task more":               {headed(func(h *header) { h.Tasks++ }), ErrDamaged, ""},
		"a task less":               {headed(func(h *header) { h.Tasks-- }), ErrDamaged, ""},
		"too few in the program":    {headed(func(h *header) { h.Total = 2 }), ErrDamaged, ""},
		"less than no task":         {none(-1), ErrDamaged, ""},
		"no task":                   {none(0), nil, ""},
		"very many tasks":           {none(math.MaxInt), ErrDamaged, ""},
		"bytes behind the header":   {append([][]byte{block(pack.Encode(&header{digest, p}), []byte("x"))}, good[1:]...), ErrDamaged, ""},
		"no header":                 {good[1:], ErrDamaged, ""},
		"a field that is not known": {append([][]byte{block(pack.Encode(map[string]any{"program": uint64(digest), "colour": 1}), nil)}, good[1:]...), ErrDamaged, ""},
		"a message of another kind": {with1(func(m *lives.Message) { m.Kind = lives.Have }), ErrDamaged, ""},
		"a record of another life":  {with1(func(m *lives.Message) { m.Life++ }), ErrDamaged, ""},
		"a record of another round": {with1(func(m *lives.Message) { m.Round++ }), ErrDamaged, ""},
		"a record of another run":   {with1(func(m *lives.Message) { m.Run++ }), ErrDamaged, ""},
		"a record of another owner": {with1(func(m *lives.Message) { m.Owner++ }), ErrDamaged, ""},
		"a record of another part":  {with1(func(m *lives.Message) { m.Tasks-- }), ErrDamaged, ""},
		"a task twice":              {with1(func(m *lives.Message) { m.Task = 0 }), ErrDamaged, "record 2 of 3 is of another part: task 0 behind task 0"},
		"a task that is not there":  {with1(func(m *lives.Message) { m.Task = 3 }), ErrDamaged, "record 2 of 3: lives: malformed message"},
		"a block too many":          {append(slices.Clone(good), good[3]), ErrDamaged, ""},
	} {
		_, found := with(t, d, file, sealed(c.blocks))
		switch {
		case c.want == nil && len(found.Parts) == 2:
		case c.want != nil && len(found.Parts) == 1 && len(found.Unusable) == 1 && errors.Is(found.Unusable[0], c.want):
		default:
			t.Errorf("%s: %+v, want %v", what, found, c.want)
		}
		if says := fmt.Sprint(found.Unusable); !strings.Contains(says, c.says) {
			t.Errorf("%s: it says %s, without %q", what, says, c.says)
		}
	}
	next := sealed(good)
	next[len(magic)]++
	if _, found := with(t, d, file, next); len(found.Unusable) != 1 || !errors.Is(found.Unusable[0], ErrOther) {
		t.Errorf("the next version: %+v", found)
	}
}

// Lengths that nothing follows get no memory.
func TestLengths(t *testing.T) {
	d, _, _, file := twoCuts(t)
	good := d.files[file].Bytes()
	for _, at := range []int{8, 16} {
		for _, length := range []uint64{1 << 40, 1 << 63, math.MaxUint64} {
			bad := bytes.Clone(good)
			binary.LittleEndian.PutUint64(bad[at:], length)
			_, err := read(bytes.NewReader(bad), int64(len(bad)), digest, nil)
			if want := fmt.Sprintf("left where %d should follow", length); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
				t.Errorf("%d bytes: %v", length, err)
			}
		}
	}
	for n := range good {
		_, err := read(bytes.NewReader(good[:n]), int64(len(good)), digest, nil)
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes can be read of %d: %v", n, len(good), err)
		}
	}
}

// A reader that only verifies uses the memory of a block for the next one. One that loads does not.
func TestReuse(t *testing.T) {
	p := program{1, 3}.part(0, key(1, 20))
	var file bytes.Buffer
	if err := write(&file, digest, p, []lives.Record{{Task: 0, Contents: []lives.Content{{Bytes: []byte("one")}}}, {Task: 1, Contents: []lives.Content{{Bytes: []byte("two")}}}}); err != nil {
		t.Fatal(err)
	}
	for _, reuse := range []bool{false, true} {
		r := reader{from: bufio.NewReader(bytes.NewReader(file.Bytes())), left: int64(file.Len()), reuse: reuse}
		if _, err := r.header(digest); err != nil {
			t.Fatal(err)
		}
		_, one, err1 := r.block()
		_, two, err2 := r.block()
		if err := errors.Join(err1, err2); err != nil || string(two) != "two" || (&one[0] == &two[0]) != reuse {
			t.Errorf("reuse is %v: %q and %q, %v", reuse, one, two, err)
		}
	}
}

// FuzzRead reads any bytes, as they are and with right checksums. A part that is taken is the same when it is written once more.
func FuzzRead(f *testing.F) {
	d, _, newer, file := twoCuts(f)
	f.Add(d.files[file].Bytes())
	f.Add(join([][]byte{block(pack.Encode(&header{digest, program{1, 3}.part(0, newer)}), nil)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, sealed(blocks(b))} {
			var records []lives.Record
			p, err := read(bytes.NewReader(b), int64(len(b)), digest, func(r lives.Record) { records = append(records, r) })
			again, same := read(bytes.NewReader(b), int64(len(b)), digest, nil)
			if (err == nil) != (same == nil) || p != again {
				t.Fatalf("%v, %v, and without its records %v, %v", p, err, again, same)
			}
			if err != nil {
				if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOther) {
					t.Errorf("%v", err)
				}
				continue
			}
			var to bytes.Buffer
			if err := write(&to, digest, p, records); err != nil {
				t.Fatal(err)
			}
			var copies []lives.Record
			if again, err := read(&to, int64(to.Len()), digest, func(r lives.Record) { copies = append(copies, r) }); err != nil || again != p || !reflect.DeepEqual(copies, records) {
				t.Errorf("%v with %v becomes %v with %v, %v", p, records, again, copies, err)
			}
		}
	})
}
