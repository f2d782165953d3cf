package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
)

// size is how many rows and columns something has: of blocks, or of elements.
type size struct{ rows, cols int }

func (s size) String() string { return fmt.Sprintf("%dx%d", s.rows, s.cols) }

// times is a grid of s, with so many elements in each.
func (s size) times(each size) size { return size{s.rows * each.rows, s.cols * each.cols} }

func (s size) cells() int64 { return int64(s.rows) * int64(s.cols) }

// divides says that s blocks of the same size fill whole.
func (s size) divides(whole size) bool { return whole.rows%s.rows == 0 && whole.cols%s.cols == 0 }

// sizeFlag is a flag like 4x4, where each number is from 1 to most. The value is zero until the
// flag is given.
func sizeFlag(to *size, most int) flag.Value {
	return command.Value(to, fmt.Sprintf("each 1 to %d", most), func(text string) (size, error) {
		rows, cols, ok := strings.Cut(text, "x")
		r, rowsErr := strconv.Atoi(rows)
		c, colsErr := strconv.Atoi(cols)
		if !ok || rowsErr != nil || colsErr != nil || min(r, c) < 1 || max(r, c) > most {
			return size{}, fmt.Errorf("want rows x columns like 4x4, each from 1 to %d", most)
		}
		return size{r, c}, nil
	})
}
