package draw

import (
	"fmt"
	"strings"
)

// shades are from cold to hot.
const shades = " .:-=+*#%@"

// Plate prints every fourth row and every second column of a plate, and the heat of the cell
// in its middle. heat is between 0 and 100.
func Plate(size int, heat func(row, column int) float64) {
	for r := 0; r < size; r += 4 {
		var line strings.Builder
		for c := 0; c < size; c += 2 {
			shade := int(heat(r, c) * float64(len(shades)) / 100)
			line.WriteByte(shades[min(max(shade, 0), len(shades)-1)])
		}
		fmt.Printf("|%s|\n", line.String())
	}
	fmt.Printf("in the middle: %.6f\n", heat(size/2, size/2))
}
