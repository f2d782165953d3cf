package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// fileOf makes a file of a version, a header and data.
func fileOf(major byte, header string, data []byte) []byte {
	file := append([]byte("\x93NUMPY"), major, 0)
	if major == 1 {
		file = binary.LittleEndian.AppendUint16(file, uint16(len(header)))
	} else {
		file = binary.LittleEndian.AppendUint32(file, uint32(len(header)))
	}
	return append(append(file, header...), data...)
}

// Write makes the files that NumPy 1.24 makes of these arrays, and Read reads them.
func TestFilesAreNumPys(t *testing.T) {
	for _, c := range []struct {
		of     string
		a      Array
		length string // of the header, as in the file
		header string // without the blanks at its end
		blanks int
		data   string
	}{
		{"numpy.array([[1, 2, 3], [4, 5, 6]], '<i2')", Array{"<i2", []int{2, 3}, false},
			"v\x00", "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", 58,
			"\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00"},
		{"numpy.array([[1, 2, 3], [4, 5, 6]], '<i2', order='F')", Array{"<i2", []int{2, 3}, true},
			"v\x00", "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", 59,
			"\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\x06\x00"},
		{"numpy.array([1.5, -2])", Array{"<f8", []int{2}, false},
			"v\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 60,
			"\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"},
		{"numpy.array(200, '|u1')", Array{"|u1", nil, false},
			"v\x00", "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 62, "\xc8"},
		{"numpy.zeros((0, 3))", Array{"<f8", []int{0, 3}, false},
			"v\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", 58, ""},
		// With 20 blanks of spare room, this header ends at a multiple of 64. NumPy then
		// adds 64 more.
		{"numpy.zeros((0, 10, 10) + (1,) * 11)", Array{"<f8", []int{0, 10, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false},
			"\xb6\x00", "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 10, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }", 84, ""},
		// In Fortran order the last size may grow, and 19 blanks are enough for it.
		{"numpy.zeros((1, 10, 10) + (1,) * 10 + (10,), '|u1', order='F')", Array{"|u1", []int{1, 10, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10}, true},
			"v\x00", "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 10, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10), }", 20, strings.Repeat("\x00", 1000)},
	} {
		file := "\x93NUMPY\x01\x00" + c.length + c.header + strings.Repeat(" ", c.blanks) + "\n" + c.data
		var written bytes.Buffer
		if err := Write(&written, c.a, []byte(c.data)); err != nil {
			t.Errorf("writing %s: %v", c.of, err)
		} else if written.String() != file {
			t.Errorf("%s is written as\n%.200q\nwant\n%.200q", c.of, written.String(), file)
		}
		a, data, err := Read(strings.NewReader(file), 1000)
		if err != nil || !sameArray(a, c.a) || string(data) != c.data {
			t.Errorf("%s is read as %v, %.20x, %v", c.of, a, data, err)
		}
	}
}

func sameArray(a, b Array) bool {
	return a.DType == b.DType && a.Fortran == b.Fortran && slices.Equal(a.Shape, b.Shape)
}

// Python reads all these texts as the same header. Old versions wrote some of them.
func TestHeadersAreRead(t *testing.T) {
	want := Array{"<f4", []int{2, 1}, true}
	data := []byte("12345678")
	for _, header := range []string{
		"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n",
		"{'descr':'<f4','fortran_order':True,'shape':(2,1)}",
		"{'shape': (2, 1), 'fortran_order': True, 'descr': '<f4'}    \n",
		"  { \"fortran_order\" : True , \"shape\" : ( 2 , 1 , ) , \"descr\" : \"<f4\" , } \n \n",
		"{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 1L), }\n",
		"{\n\t'descr': '<f4',\r\n\t'fortran_order': True,\n\t'shape': (2, 1),\n}",
	} {
		for major := range byte(3) {
			r := bytes.NewReader(append(fileOf(major+1, header, data), "rest"...))
			a, got, err := Read(iotest.OneByteReader(r), 8)
			if err != nil || !sameArray(a, want) || !bytes.Equal(got, data) {
				t.Errorf("version %d, %q is read as %v, %x, %v", major+1, header, a, got, err)
			}
			if rest, _ := io.ReadAll(r); string(rest) != "rest" {
				t.Errorf("version %d, %q leaves %q to be read", major+1, header, rest)
			}
		}
	}
}

func TestBadHeaders(t *testing.T) {
	const good = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n"
	with := func(old, changed string) string { return strings.Replace(good, old, changed, 1) }
	for _, c := range []struct {
		header string
		is     error
		says   string
	}{
		{"", ErrFormat, `byte 0 of its header: found "": want {`},
		{"[]", ErrFormat, `byte 0 of its header: found "[]": want {`},
		{"{}", ErrFormat, "found 0 keys: want descr, fortran_order and shape"},
		{"{'descr': '<f4', 'shape': (2, 1)}", ErrFormat, "found 2 keys: want descr, fortran_order and shape"},
		{good[:20], ErrFormat, `byte 18 of its header: found no plain string`},
		{good[:len(good)-2], ErrFormat, `found "": want "`},
		{good + "x", ErrFormat, `byte 59 of its header: found "x" after the dictionary`},
		{with("descr", "dtype"), ErrFormat, `found a key of "dtype": want descr, fortran_order and shape`},
		{with("}", "'color': 'red'}"), ErrFormat, `found a key of "color"`},
		{with("}", "'descr': '<f4'}"), ErrFormat, "found descr twice"},
		{with("'fortran_order': True,", "'descr': '<f4',"), ErrFormat, "found descr twice"},
		{with(": ", " "), ErrFormat, `found "'<f4', 'fortran_orde": want :`},
		{with(": '<f4'", " [('x', '<f8')]"), ErrFormat, "want :"},
		{with("True, ", "True "), ErrFormat, `found "'shape': (2, 1), }\n": want }`},
		{with("True", "1"), ErrFormat, "want False"},
		{with("True", "None"), ErrFormat, "want False"},
		{with("'<f4'", `'<\x664'`), ErrFormat, "found no plain string"},
		{with("'<f4'", "4"), ErrFormat, "byte 10 of its header"},
		{with("(2, 1)", "[2, 1]"), ErrFormat, "want ("},
		{with("(2, 1)", "(2)"), ErrFormat, "found a number in brackets: a shape of one axis ends in a comma"},
		{with("(2, 1)", "(2 1)"), ErrFormat, "want )"},
		{with("(2, 1)", "(2,, 1)"), ErrFormat, "found no size"},
		{with("(2, 1)", "(-2, 1)"), ErrFormat, "found no size"},
		{with("(2, 1)", "(2.0, 1)"), ErrFormat, "want )"},
		{with("(2, 1)", "(99999999999999999999, 1)"), ErrFormat, "found no size"},
		{with("(2, 1)", "("+strings.Repeat("1, ", 65)+")"), ErrFormat, "found more than 64 axes"},
		{with("(2, 1)", fmt.Sprintf("(%d, 3)", math.MaxInt/2)), ErrSize, "more bytes than can be counted"},
		{with("(2, 1)", fmt.Sprintf("(%d, 4)", (math.MaxInt/4)+1)), ErrSize, "more bytes than can be counted"},
		{with("(2, 1)", fmt.Sprintf("(%d, )", math.MaxInt/4+1)), ErrSize, "more bytes than can be counted"},
		{with("(2, 1)", fmt.Sprintf("(%d, 4, 1)", math.MaxInt/2+1)), ErrSize, "more bytes than can be counted"},
		{with("(2, 1)", "(3, 1)"), ErrSize, "shape [3 1] of <f4 has 12 bytes: the limit is 8"},

		{with("'<f4'", "'>f4'"), ErrType, `">f4" is big-endian: convert it with astype("<f4")`},
		{with("'<f4'", "'=f4'"), ErrType, `"=f4" does not say its byte order as NumPy does: write <f4`},
		{with("'<f4'", "'u1'"), ErrType, `"u1" does not say its byte order as NumPy does: write |u1`},
		{with("'<f4'", "'|O'"), ErrType, `"|O" refers to Python objects: convert it to numbers`},
		{with("'<f4'", "'|S8'"), ErrType, `"|S8" is none of the numbers of fixed size`},
		{with("'<f4'", "'<U8'"), ErrType, `"<U8" is none of the numbers of fixed size`},
		{with("'<f4'", "'<M8[s]'"), ErrType, `is none of the numbers of fixed size`},
		{with("'<f4'", "'<f16'"), ErrType, `is none of the numbers of fixed size`},
		{with("'<f4'", "'|V4'"), ErrType, `is none of the numbers of fixed size`},
		{with("'<f4'", "''"), ErrType, `"" is none of the numbers of fixed size`},
		{with("'<f4'", "'"+strings.Repeat("x", 1000)+"'"), ErrType, `"xxxxxxxxxxxxxxxxxxxx" is none`},
		{with("'<f4'", "[('x', '<f8'), ('next', '|O')]"), ErrType, "an element is a structure: save each field as an array of its own"},
	} {
		_, _, err := Read(bytes.NewReader(fileOf(1, c.header, []byte("12345678"))), 8)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v\nwant %v, ... %s", c.header, err, c.is, c.says)
		}
		a, err := ReadHeader(bytes.NewReader(fileOf(1, c.header, nil)))
		if limited := strings.Contains(c.says, "the limit"); limited != (err == nil) || limited != (a.DType != "") {
			t.Errorf("%q: read alone it is %v, %v", c.header, a, err)
		}
	}
}

func TestBadBeginnings(t *testing.T) {
	const header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n"
	good := fileOf(1, header, []byte("12345678"))
	for _, c := range []struct {
		name   string
		change func(file []byte)
		says   string
	}{
		{"another magic", func(f []byte) { f[0] = 'x' }, `it begins with "xNUMPY"`},
		{"version 0", func(f []byte) { f[6] = 0 }, "it has version 0.0"},
		{"version 4", func(f []byte) { f[6] = 4 }, "it has version 4.0: save it with version=(1, 0)"},
		{"version 1.1", func(f []byte) { f[7] = 1 }, "it has version 1.1"},
		{"a huge header", func(f []byte) { f[6], f[10], f[11] = 2, 0, 1 }, "its header has 16777275 bytes: at most 65535 are read"},
	} {
		file := slices.Clone(good)
		c.change(file)
		if _, _, err := Read(bytes.NewReader(file), 8); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want ErrFormat, ... %s", c.name, err, c.says)
		}
	}
	for major := range byte(3) {
		good := fileOf(major+1, header, []byte("12345678"))
		for n := range good {
			_, data, err := Read(bytes.NewReader(good[:n]), 8)
			if !errors.Is(err, ErrFormat) || !errors.Is(err, io.ErrUnexpectedEOF) || data != nil {
				t.Fatalf("%d of %d bytes: %x, %v, want ErrFormat and io.ErrUnexpectedEOF", n, len(good), data, err)
			}
		}
		broken := errors.New("broken")
		for n := range good {
			r := io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken))
			if _, _, err := Read(r, 8); !errors.Is(err, broken) || errors.Is(err, ErrFormat) {
				t.Fatalf("a reader that breaks after %d bytes: %v", n, err)
			}
		}
	}
}

// Read checks the size in a header before it allocates.
func TestLimitComesBeforeMemory(t *testing.T) {
	const most = 1 << 40
	file := fileOf(1, fmt.Sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d,), }", int64(most/8)), nil)
	for _, limit := range []int64{-1, 0, 1 << 20, most - 1} {
		_, _, err := Read(bytes.NewReader(file), limit)
		if !errors.Is(err, ErrSize) {
			t.Errorf("an array of 1 TiB, limit %d: %v, want ErrSize", limit, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		a    Array
		n    int
		is   error
		says string
	}{
		{Array{DType: "<f8", Shape: []int{2}}, 15, ErrSize, "shape [2] of <f8 has 16 bytes, the data 15"},
		{Array{DType: "<f8", Shape: []int{2}}, 17, ErrSize, "the data 17"},
		{Array{DType: "<f8", Shape: []int{-2, -1}}, 16, ErrSize, "axis 0 has -2 elements"},
		{Array{DType: "<f8", Shape: []int{0, -1}}, 0, ErrSize, "axis 1 has -1 elements"},
		{Array{DType: "<f8", Shape: make([]int, 65)}, 0, ErrSize, "it has 65 axes: reshape it to at most 64"},
		{Array{DType: ">f8"}, 8, ErrType, "is big-endian"},
		{Array{}, 0, ErrType, "is none of the numbers"},
		{Array{DType: "<f8"}, 8, broken, "npy: writing an array: broken"},
	} {
		err := Write(brokenWriter{broken}, c.a, make([]byte, c.n))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v with %d bytes: %v, want %v, ... %s", c.a, c.n, err, c.is, c.says)
		}
	}
	// An axis of 0 makes the array empty, however long the other axes are.
	if err := Write(io.Discard, Array{"<f8", []int{math.MaxInt, 0, math.MaxInt}, false}, nil); err != nil {
		t.Error(err)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestArraysComeBack(t *testing.T) {
	types := make([]string, 0, len(dtypes))
	for d := range dtypes {
		types = append(types, d)
	}
	slices.Sort(types)
	rapid.Check(t, func(t *rapid.T) {
		a := Array{rapid.SampledFrom(types).Draw(t, "dtype"), rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape"), rapid.Bool().Draw(t, "fortran")}
		size, err := a.Size()
		if err != nil {
			t.Fatal(err)
		}
		want := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")
		var file bytes.Buffer
		if err := Write(&file, a, want); err != nil {
			t.Fatal(err)
		}
		if begin := file.Len() - size; begin%64 != 0 {
			t.Fatalf("the data begins at byte %d", begin)
		}
		got, data, err := Read(&file, int64(size))
		if err != nil || !sameArray(got, a) || !bytes.Equal(data, want) || file.Len() > 0 {
			t.Fatalf("%v with %x is read as %v with %x, %v, %d bytes are left", a, want, got, data, err, file.Len())
		}
	})
}

// An array that Read accepts is within the limit, and comes back from Write and Read.
func FuzzRead(f *testing.F) {
	header := "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n"
	for major := range byte(3) {
		f.Add(fileOf(major+1, header, []byte("12345678")))
	}
	f.Add(fileOf(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387905, 4), }", nil))
	f.Add(fileOf(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1L,), }", []byte("12345678")))
	f.Fuzz(func(t *testing.T, file []byte) {
		const limit = 1 << 12
		a, data, err := Read(bytes.NewReader(file), limit)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrType) && !errors.Is(err, ErrSize) {
				t.Fatalf("an error of no kind: %v", err)
			}
			if a.DType != "" || data != nil {
				t.Fatalf("%v and %x besides %v", a, data, err)
			}
			return
		}
		if len(data) > limit || !bytes.HasSuffix(file, data) && !bytes.Contains(file, data) {
			t.Fatalf("%d bytes of data that are not the file's", len(data))
		}
		var again bytes.Buffer
		if err := Write(&again, a, data); err != nil {
			t.Fatal(err)
		}
		b, same, err := Read(&again, limit)
		if err != nil || !sameArray(a, b) || !bytes.Equal(data, same) {
			t.Fatalf("%v with %x is read again as %v with %x, %v", a, data, b, same, err)
		}
	})
}
