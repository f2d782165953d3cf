package vtk

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
)

// Box is the cells from Low to High, without High, in one to three dimensions: z, y, x.
type Box struct{ Low, High []int }

// Array describes what each cell has.
type Array struct {
	Name  string
	Type  string // of a number: Int8 to UInt64, Float32, Float64
	Count int    // a cell has so many numbers
}

// sizes maps types to the bytes of a number.
var sizes = map[string]int{
	"Int8": 1, "UInt8": 1, "Int16": 2, "UInt16": 2, "Int32": 4, "UInt32": 4, "Int64": 8, "UInt64": 8, "Float32": 4, "Float64": 8,
}

// extent says which points a box has. A cell lies between two points along each of its dimensions, and a missing dimension
// has one point.
func (b Box) extent() string {
	text := ""
	for i := range 3 {
		low, high := 0, 0
		if dim := len(b.Low) - 1 - i; dim >= 0 {
			low, high = b.Low[dim], b.High[dim]
		}
		if i > 0 {
			text += " "
		}
		text += strconv.Itoa(low) + " " + strconv.Itoa(high)
	}
	return text
}

func (b Box) cells() int {
	n := 1
	for dim := range b.Low {
		n *= b.High[dim] - b.Low[dim]
	}
	return n
}

// escaped is a text as the value of an XML attribute.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes all
	return b.String()
}

// describe describes the arrays. prefix is a part of the tags.
func describe(prefix string, arrays []Array, more func(i int) string) string {
	text := fmt.Sprintf("<%sCellData Scalars=\"%s\">\n", prefix, escaped(arrays[0].Name))
	for i, a := range arrays {
		text += fmt.Sprintf("<%sDataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"%s/>\n", prefix, a.Type, escaped(a.Name), a.Count, more(i))
	}
	return text + fmt.Sprintf("</%sCellData>\n", prefix)
}

const (
	head  = "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
	frame = "<%s WholeExtent=\"%s\" %sOrigin=\"0 0 0\" Spacing=\"1 1 1\">\n"
)

// WritePiece writes a piece, .vti. data has the numbers of each array, in the order of the box.
func WritePiece(w io.Writer, b Box, arrays []Array, data [][]byte) error {
	offsets, end := make([]int, len(arrays)), 0
	for i, a := range arrays {
		if want := b.cells() * a.Count * sizes[a.Type]; len(data[i]) != want || want == 0 {
			return fmt.Errorf("vtk: array %q of type %s has %d bytes in cells %v to %v: want %d", a.Name, a.Type, len(data[i]), b.Low, b.High, want)
		}
		offsets[i] = end
		end += 8 + len(data[i])
	}
	text := fmt.Sprintf(head, "ImageData") + fmt.Sprintf(frame, "ImageData", b.extent(), "") + fmt.Sprintf("<Piece Extent=\"%s\">\n", b.extent()) +
		describe("", arrays, func(i int) string { return fmt.Sprintf(" format=\"appended\" offset=\"%d\"", offsets[i]) }) +
		"</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_"
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	for _, d := range data {
		if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(d)))); err != nil {
			return err
		}
		if _, err := w.Write(d); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n</AppendedData>\n</VTKFile>\n")
	return err
}

// Piece is a piece of an image: a file, by its path from the folder of the image.
type Piece struct {
	Box
	File string
}

// WriteImage writes which pieces an image has, .pvti.
func WriteImage(w io.Writer, whole Box, arrays []Array, pieces []Piece) error {
	text := fmt.Sprintf(head, "PImageData") + fmt.Sprintf(frame, "PImageData", whole.extent(), "GhostLevel=\"0\" ") +
		describe("P", arrays, func(int) string { return "" })
	for _, p := range pieces {
		text += fmt.Sprintf("<Piece Extent=\"%s\" Source=\"%s\"/>\n", p.extent(), escaped(p.File))
	}
	_, err := io.WriteString(w, text+"</PImageData>\n</VTKFile>\n")
	return err
}

// Step is an image of a series.
type Step struct {
	Time int
	File string
}

// WriteSeries writes which images a series has, .pvd.
func WriteSeries(w io.Writer, steps []Step) error {
	text := fmt.Sprintf(head, "Collection") + "<Collection>\n"
	for _, s := range steps {
		text += fmt.Sprintf("<DataSet timestep=\"%d\" part=\"0\" file=\"%s\"/>\n", s.Time, escaped(s.File))
	}
	_, err := io.WriteString(w, text+"</Collection>\n</VTKFile>\n")
	return err
}
