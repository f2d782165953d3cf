package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
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

// curve is a number after each sweep.
type curve struct {
	name   string
	sweeps []int
	values []float64
}

// readCurve reads lines of a sweep and a number. It leaves out all other lines.
func readCurve(file string) (c curve, err error) {
	text, err := os.ReadFile(file)
	c.name = filepath.Base(file)
	for line := range strings.Lines(string(text)) {
		var sweep int
		var v float64
		if n, _ := fmt.Sscanf(line, "%d %g\n", &sweep, &v); n == 2 && v > 0 {
			c.sweeps, c.values = append(c.sweeps, sweep), append(c.values, v)
		}
	}
	if err == nil && len(c.values) == 0 {
		err = fmt.Errorf("pictures: %s has no line of a sweep and a number", file)
	}
	return c, err
}

const (
	plotWide, plotHigh = 560, 260
	plotLeft, plotTop  = 50, 14
	plotBelow          = 34
)

// Blue and orange are told apart by all eyes, and the second line has dashes.
var strokes = []string{`stroke="#0072b2"`, `stroke="#d55e00" stroke-dasharray="7 3"`}

// plot writes curves over sweeps. One step up is a power of ten.
func plot(to io.Writer, curves []curve) error {
	last, low, high := 1, math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		last = max(last, c.sweeps[len(c.sweeps)-1])
		for _, v := range c.values {
			low, high = min(low, math.Floor(math.Log10(v))), max(high, math.Ceil(math.Log10(v)))
		}
	}
	x := func(sweep int) float64 { return plotLeft + plotWide*float64(sweep)/float64(last) }
	y := func(power float64) float64 { return plotTop + plotHigh*(high-power)/max(1, high-low) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		plotLeft+plotWide+20, plotTop+plotHigh+plotBelow)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	for power := low; power <= high; power += 2 {
		fmt.Fprintf(&b, `<path d="M%d %.1fh%d" stroke="#ccc"/><text x="%d" y="%.1f" text-anchor="end">1e%.0f</text>`+"\n",
			plotLeft, y(power), plotWide, plotLeft-6, y(power)+4, power)
	}
	for sweep := 0; sweep <= last; sweep += 100 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(sweep), plotTop+plotHigh+18, sweep)
	}
	for i, c := range curves {
		stroke := strokes[i%len(strokes)]
		fmt.Fprintf(&b, `<polyline fill="none" %s stroke-width="1.5" points="`, stroke)
		for k, v := range c.values {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(c.sweeps[k]), y(math.Log10(v)))
		}
		b.WriteString("\"/>\n")
		line := plotTop + plotHigh - 14 - 18*(len(curves)-1-i)
		fmt.Fprintf(&b, `<path d="M%d %dh30" %s stroke-width="1.5"/><text x="%d" y="%d">%s</text>`+"\n", plotLeft+12, line, stroke, plotLeft+50, line+4, c.name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(to, b.String())
	return err
}

// Bounds of a film in the README.
const (
	mostBytes   = 290_000
	mostColours = 32
	leastFrames = 12
)

var errTooLarge = errors.New("pictures: the film is too large, even with few frames: film less")

// shrink makes a film of half the width, few colours and as many frames as fit. It reads a GIF of package show.
func shrink(to io.Writer, from io.Reader) error {
	film, err := gif.DecodeAll(from)
	if err != nil {
		return err
	}
	frames := make([]*image.RGBA, len(film.Image))
	used := make(map[color.RGBA]int)
	for i, f := range film.Image {
		frames[i] = half(f)
		for at := 0; at < len(frames[i].Pix); at += 4 {
			used[pixel(frames[i], at)]++
		}
	}
	colours := spread(used, mostColours-1)
	for every := 1; len(frames)/every >= leastFrames || every == 1; every++ {
		var out bytes.Buffer
		if err := gif.EncodeAll(&out, pack(frames, film.Delay, every, colours)); err != nil {
			return err
		}
		if out.Len() <= mostBytes {
			_, err := out.WriteTo(to)
			return err
		}
	}
	return errTooLarge
}

func pixel(f *image.RGBA, at int) color.RGBA {
	return color.RGBA{f.Pix[at], f.Pix[at+1], f.Pix[at+2], 0xFF}
}

// half is a frame of half the width and height: each point is the mean of four.
func half(f image.Image) *image.RGBA {
	b := f.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	for y := range b.Dy() / 2 {
		for x := range b.Dx() / 2 {
			var sum [3]uint32
			for k := range 4 {
				r, g, b, _ := f.At(b.Min.X+2*x+k%2, b.Min.Y+2*y+k/2).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r, sum[1]+g, sum[2]+b
			}
			out.SetRGBA(x, y, color.RGBA{uint8(sum[0] / 4 >> 8), uint8(sum[1] / 4 >> 8), uint8(sum[2] / 4 >> 8), 0xFF})
		}
	}
	return out
}

// spread chooses n colours: first the one that is used most, and then again and again the one that is farthest from all that
// were chosen.
func spread(used map[color.RGBA]int, n int) (chosen color.Palette) {
	far := make(map[color.RGBA]int, len(used))
	var next color.RGBA
	for c, times := range used {
		if far[c] = 1 << 30; times > used[next] || times == used[next] && less(c, next) {
			next = c
		}
	}
	for len(chosen) < n && len(chosen) < len(used) {
		chosen = append(chosen, next)
		last := next
		best := -1
		for c := range far {
			far[c] = min(far[c], apart(c, last))
			if far[c] > best || far[c] == best && less(c, next) {
				best, next = far[c], c
			}
		}
	}
	return chosen
}

func less(a, b color.RGBA) bool {
	return int(a.R)<<16+int(a.G)<<8+int(a.B) < int(b.R)<<16+int(b.G)<<8+int(b.B)
}

func apart(a, b color.RGBA) int {
	r, g, c := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + c*c
}

// pack makes a film of every so many frames, and the last one. A point that stays as it is, is transparent.
func pack(frames []*image.RGBA, delays []int, every int, colours color.Palette) *gif.GIF {
	palette := append(color.Palette{color.RGBA{}}, colours...)
	nearest := make(map[color.RGBA]uint8)
	out := new(gif.GIF)
	var before []uint8
	for i := 0; i < len(frames); i++ {
		last := i == len(frames)-1
		if i%every != 0 && !last {
			continue
		}
		f := frames[i]
		now := make([]uint8, len(f.Pix)/4)
		for p := range now {
			c := pixel(f, 4*p)
			index, known := nearest[c]
			if !known {
				index = uint8(1 + colours.Index(c))
				nearest[c] = index
			}
			now[p] = index
		}
		frame := image.NewPaletted(f.Bounds(), palette)
		for p := range now {
			if before == nil || now[p] != before[p] {
				frame.Pix[p] = now[p]
			}
		}
		before = now
		delay := delays[i]
		if !last {
			delay *= every
		}
		out.Image, out.Delay, out.Disposal = append(out.Image, frame), append(out.Delay, delay), append(out.Disposal, gif.DisposalNone)
	}
	return out
}
