package typed

import (
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/orwl/go-orwl/internal/queue"
)

type (
	padded struct {
		A uint8
		B float64
	}
	blank struct {
		A uint8
		_ [7]uint8
		B float64
	}
	incomparable struct {
		_ [0]func()
		A int32
	}
	node struct {
		Value float64
		Next  *node
	}
	named  struct{ Name string }
	row    [3]named
	nested struct {
		OK   uint8
		Rows [2]row
	}
	embedding struct {
		node
		A int32
	}
	temperature float32
	pair[T any] struct{ A, B T }
	empty       struct {
		_ struct{}
		_ [0]float64
	}
)

func TestCheck(t *testing.T) {
	const elsewhere = ": it points to memory of one process: use "
	for _, c := range []struct {
		check func() error
		want  string
	}{
		{Check[int8], ""}, {Check[int16], ""}, {Check[int32], ""}, {Check[int64], ""},
		{Check[uint8], ""}, {Check[uint16], ""}, {Check[uint32], ""}, {Check[uint64], ""},
		{Check[float32], ""}, {Check[float64], ""}, {Check[complex64], ""}, {Check[complex128], ""},
		{Check[temperature], ""}, {Check[time.Duration], ""}, {Check[padded], ""}, {Check[[3][2]padded], ""},
		{Check[pair[float64]], ""}, {Check[padded], ""}, {Check[blank], ""}, {Check[incomparable], ""},
		{Check[struct{ A, B uint16 }], ""},

		{Check[bool], "bool: bool: a bool: only two of a byte's 256 values are valid: use uint8"},
		{Check[int], "int: int: an int: its size depends on the machine: use int64 or int32"},
		{Check[uint], "uint: uint: a uint: its size depends on the machine: use uint64 or uint32"},
		{Check[uintptr], "uintptr: uintptr: a uintptr: its size depends on the machine: use uint64"},
		{Check[*float64], "*float64: *float64: a pointer" + elsewhere + "an index"},
		{Check[unsafe.Pointer], "unsafe.Pointer: Pointer: a pointer" + elsewhere + "an index"},
		{Check[map[int8]int8], "map[int8]int8: map[int8]int8: a map" + elsewhere + "an array"},
		{Check[[]float64], "[]float64: []float64: a slice" + elsewhere + "an array"},
		{Check[string], "string: string: a string" + elsewhere + "an array of uint8"},
		{Check[chan int8], "chan int8: chan int8: a channel" + elsewhere + "a resource"},
		{Check[func()], "func(): func(): a function" + elsewhere + "a number"},
		{Check[any], "interface {}: interface {}: an interface" + elsewhere + "a type with bytes of its own"},
		{Check[error], "error: error: an interface" + elsewhere + "a type with bytes of its own"},

		{Check[node], "typed.node: node.Next: a pointer" + elsewhere + "an index"},
		{Check[nested], "typed.nested: nested.Rows[][].Name: a string" + elsewhere + "an array of uint8"},
		{Check[embedding], "typed.embedding: embedding.node.Next: a pointer" + elsewhere + "an index"},
		{Check[[4]int], "[4]int: [4]int[]: an int: its size depends on the machine: use int64 or int32"},
		{Check[struct{ _ *int8 }], "struct { _ *int8 }: struct { _ *int8 }._: a pointer" + elsewhere + "an index"},

		{Check[struct{}], "struct {}: struct {}: it has no bytes: use a type that has some"},
		{Check[[0]float64], "[0]float64: [0]float64: it has no bytes: use a type that has some"},
		{Check[empty], "typed.empty: empty: it has no bytes: use a type that has some"},
	} {
		err := c.check()
		got := ""
		if err != nil {
			got = err.Error()
			if e := (*TypeError)(nil); !errors.As(err, &e) || e.Type == nil {
				t.Errorf("%v is a %T, want a *TypeError with a type", err, err)
			}
			c.want = "handle: no view of " + c.want
		}
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// placed is a place that has requested a resource.
func placed(t testing.TB) *queue.Place {
	r, err := queue.New("r", 64)
	p := new(queue.Place)
	if err == nil {
		err = p.Request(r, queue.Read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The memo remembers no refused type, and only the last good one.
func TestMemoKnowsOnlyWhatPassedLast(t *testing.T) {
	var m Memo
	p := placed(t)
	for range 2 {
		if err := checkOnce[float64](&m, p); err != nil {
			t.Fatal(err)
		}
		if err := checkOnce[int](&m, p); err == nil {
			t.Fatal("an int passed where a float64 had passed before")
		}
		if err := checkOnce[int](&m, p); err == nil {
			t.Fatal("an int passed after it was refused")
		}
		if err := checkOnce[padded](&m, p); err != nil {
			t.Fatal(err)
		}
		if err := checkOnce[empty](&m, p); err == nil {
			t.Fatal("a type without bytes passed where another struct had passed before")
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := checkOnce[padded](&m, p); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("checking the last good type again allocates %v times", n)
	}
}

var sunk float64

// The cost of a view in each access, without the check that the handle holds.
func BenchmarkViewMade(b *testing.B) {
	bytes := make([]byte, 8000)
	var memo Memo
	p := placed(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := checkOnce[float64](&memo, p); err != nil {
			b.Fatal(err)
		}
		sunk += Slice[float64](bytes)[1]
	}
}

func BenchmarkCheckAgain(b *testing.B) {
	var memo Memo
	p := placed(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := checkOnce[float64](&memo, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckFirst(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := Check[padded](); err != nil {
			b.Fatal(err)
		}
	}
}
