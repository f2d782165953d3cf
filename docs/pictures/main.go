package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/orwl/go-orwl/orwl/trace"
)

func main() {
	film := flag.Bool("film", false, "make a small film of a GIF on standard input")
	residual := flag.Bool("residual", false, "plot the numbers of files over their sweeps")
	flag.Parse()
	if *residual {
		var curves []curve
		for _, file := range flag.Args() {
			c, err := readCurve(file)
			if err != nil {
				log.Fatal(err)
			}
			curves = append(curves, c)
		}
		if err := plot(os.Stdout, curves); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *film {
		if err := shrink(os.Stdout, os.Stdin); err != nil {
			log.Fatal(err)
		}
		return
	}
	recorded, err := trace.Read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if err := draw(os.Stdout, recorded); err != nil {
		log.Fatal(err)
	}
}

// moments are when the run is looked at, as parts of its time.
var moments = []float64{0.15, 0.3, 0.6}

// position is the place of a block in the grid.
type position struct{ row, column int }

// progress is what a block has done up to a moment.
type progress struct {
	sweeps int
	works  bool
}

// look is how far each block is at a moment. A block that has several tasks, its pieces, has done a
// sweep when the last of them has.
func look(t *trace.Trace, at time.Duration) map[position]progress {
	last := map[position]string{}
	for _, k := range t.Tracks {
		if p, piece, ok := block(k.Task); ok && piece >= last[p] {
			last[p] = piece
		}
	}
	all := map[position]progress{}
	for _, k := range t.Tracks {
		p, piece, ok := block(k.Task)
		if !ok {
			continue
		}
		now := all[p]
		for _, s := range k.Slices {
			switch {
			case s.Name != trace.Compute:
			case s.To <= at && piece == last[p]:
				now.sweeps++
			case s.From <= at && at < s.To:
				now.works = true
			}
		}
		all[p] = now
	}
	return all
}

// block takes the name of a task apart: block 1,2, piece 1 of 3.
func block(task string) (p position, piece string, ok bool) {
	if _, err := fmt.Sscanf(task, "block %d,%d", &p.row, &p.column); err != nil {
		return p, "", false
	}
	_, piece, _ = strings.Cut(task, ", piece ")
	return p, piece, true
}

var errNoBlocks = errors.New("pictures: the trace has no blocks: want one of llk23 -trace")

const (
	cell  = 26 // points on a side
	space = 24 // between two pictures, and for the title
)

// draw writes the picture.
func draw(to io.Writer, t *trace.Trace) error {
	first := look(t, 0)
	if len(first) == 0 {
		return errNoBlocks
	}
	var rows, columns int
	for p := range first {
		rows, columns = max(rows, p.row+1), max(columns, p.column+1)
	}
	width, height := len(moments)*(columns*cell+space)+space, rows*cell+2*space
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11" text-anchor="middle">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for i, part := range moments {
		at := t.From + time.Duration(part*float64(t.To-t.From))
		left := space + i*(columns*cell+space)
		fmt.Fprintf(&b, `<text x="%d" y="%d">after %.0f ms</text>`+"\n", left+columns*cell/2, space-8, 1000*(at-t.From).Seconds())
		writeGrid(&b, look(t, at), rows, columns, left)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(to, b.String())
	return err
}

// writeGrid draws the blocks at one moment: the further a block is, the darker.
func writeGrid(b *strings.Builder, blocks map[position]progress, rows, columns, left int) {
	least, most := blocks[position{}].sweeps, 0
	for _, now := range blocks {
		least, most = min(least, now.sweeps), max(most, now.sweeps)
	}
	for r := range rows {
		for c := range columns {
			now := blocks[position{r, c}]
			ahead := float64(now.sweeps-least) / float64(max(1, most-least))
			light, text := 92-52*ahead, "#000"
			if light < 55 {
				text = "#fff"
			}
			x, y := left+c*cell, space+r*cell
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="hsl(%.0f 60%% %.0f%%)" stroke="#fff"/>`, x, y, cell, cell, 190+40*ahead, light)
			if now.works {
				fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#d40" stroke-width="3"/>`, x+2, y+2, cell-4, cell-4)
			}
			fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%d</text>`+"\n", x+cell/2, y+cell/2+4, text, now.sweeps)
		}
	}
}
