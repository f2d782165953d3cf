// Package picture draws values on a grid as colours, with a title and a legend: as a PNG, or
// as an animated GIF. Package show makes pictures and films of a run with it.
//
//	values := make([]float64, 100*200)
//	p := picture.Picture{{Title: "heat", Rows: 100, Cols: 200, Values: picture.Cells(values, 200)}}
//	var file bytes.Buffer
//	err := p.PNG(&file)
//	fmt.Println(strings.HasPrefix(file.String(), "\x89PNG"), err)
//	// Output:
//	// true <nil>
//
// A large grid is averaged to the size of the picture, a small one is drawn in squares.
package picture
