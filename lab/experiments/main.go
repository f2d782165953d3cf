package experiments

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/memory"
)

// Groups are the flags of Run, as help shows them.
var Groups = []command.Group{{Title: "what to compute", Flags: "for scale kernel llk23"}, {Title: "output", Flags: "to"}}

// Run is orwl-lab experiments. It ends with ctx.
func Run(ctx context.Context, f *flag.FlagSet, args []string, out io.Writer) error {
	p := plan{cores: runtime.GOMAXPROCS(0)}
	f.DurationVar(&p.time, "for", 15*time.Minute, "run for a `TIME` in all, 5s to 20m; less than 1m is a share of the runs")
	command.Old(f, "time", "for")
	f.Float64Var(&p.scale, "scale", 0, "`PART` of the paper's sides of the matrix (2c) and of the blocks (2d), up to 1, which takes 49 GB; 0 is what fits")
	f.StringVar(&p.kernel, "kernel", "listing", command.Usage("kernel", " of llk23: listing or fast"))
	f.StringVar(&p.program, "llk23", "llk23", command.Usage("llk23", ""))
	folder := f.String("to", "llk23-experiments", "write index.html and measured.csv in this `FOLDER`")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	switch {
	case p.time < 5*time.Second || p.time > 20*time.Minute:
		return command.Misusef("-for %v: want 5s to 20m", p.time)
	case p.scale < 0 || p.scale > 1 || p.scale > 0 && p.scale*paperBlock < 1:
		return command.Misusef("-scale %v: want more than 0.0004, up to 1, or 0", p.scale)
	case p.kernel != "listing" && p.kernel != "fast":
		return command.Misusef("-kernel %q: want listing or fast", p.kernel)
	}
	var err error
	if p.program, err = exec.LookPath(p.program); err != nil {
		return command.Misusef("-llk23: %w: install it by go install ./apps/llk23 in the root, or name it", err)
	}
	p.memory = 8 << 30
	if room, known := memory.Free(); known {
		p.memory = room.Bytes / 4 * 3
	}
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		return err
	}
	p = p.withScale()
	begin := time.Now()
	points, err := p.measure(ctx, out)
	runs := len(points)
	if err == nil {
		points, err = p.predict(ctx, points, out)
	}
	if err != nil {
		if ctx.Err() != nil {
			return &command.ExitError{Code: 130, Err: errors.New("stopped without a result: interrupted")}
		}
		return err
	}
	if err := write(filepath.Join(*folder, "measured.csv"), func(to io.Writer) error { return table(to, points) }); err != nil {
		return err
	}
	page := filepath.Join(*folder, "index.html")
	if err := write(page, func(to io.Writer) error { return p.page(to, points, begin) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s shows %d runs, which took %v\n", page, runs, time.Since(begin).Round(time.Second))
	return err
}

// measure makes all runs. Each experiment has its own part of the time.
func (p plan) measure(ctx context.Context, out io.Writer) ([]point, error) {
	points := p.points()
	left := make(map[string]time.Duration)
	for figure, part := range parts {
		left[figure] = time.Duration(part * float64(p.time))
	}
	for i := range points {
		o := &points[i]
		if o.leftOut = p.check(*o, left[o.figure]); o.leftOut == "" {
			begin := time.Now()
			var err error
			if o.result, err = p.llk23(ctx, o.processors, o.args(p.kernel)...); err != nil {
				return nil, err
			}
			left[o.figure] -= time.Since(begin)
		}
		if _, err := fmt.Fprintln(out, o); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// String is the run in a line.
func (o *point) String() string {
	text := fmt.Sprintf("%s  %dx%d blocks of %dx%d", o.figure, o.blocks[0], o.blocks[1], o.side[0], o.side[1])
	if o.machine != "" {
		text += " on " + o.machine
	}
	if o.nodes > 1 {
		text += fmt.Sprintf(" on %d nodes", o.nodes)
	}
	if o.leftOut != "" {
		return text + ": left out, " + o.leftOut
	}
	return fmt.Sprintf("%s, %d iterations: %.2f ns an element, %.2f ms an iteration", text, o.iterations, o.NsPerElement, o.msIteration())
}

func (o *point) msIteration() float64 { return 1e3 * o.Seconds / float64(o.iterations) }

// table writes all runs as CSV.
func table(to io.Writer, points []point) error {
	w := csv.NewWriter(to)
	rows := [][]string{{"figure", "grid", "block", "nodes", "processors_a_node", "tasks_a_core", "iterations", "seconds", "ns_per_element",
		"compute_share", "wait_share", "least_wait_share", "left_out", "predicted_on"}}
	for _, o := range points {
		row := []string{o.figure, fmt.Sprintf("%dx%d", o.blocks[0], o.blocks[1]), fmt.Sprintf("%dx%d", o.side[0], o.side[1]),
			strconv.Itoa(o.nodes), strconv.Itoa(o.processors), strconv.Itoa(o.perCore), strconv.Itoa(o.iterations)}
		for _, v := range []float64{o.Seconds, o.NsPerElement, o.ComputeShare, o.WaitShare, o.LeastWaitShare} {
			text := ""
			if o.leftOut == "" {
				text = strconv.FormatFloat(v, 'g', 6, 64)
			}
			row = append(row, text)
		}
		rows = append(rows, append(row, o.leftOut, o.machine))
	}
	return w.WriteAll(rows)
}

// write writes a file, which is whole, or as it was before.
func write(name string, content func(io.Writer) error) error {
	var text bytes.Buffer
	if err := content(&text); err != nil {
		return err
	}
	return maybe.WriteFile(name, text.Bytes(), 0o666)
}
