package show

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/orwl/go-orwl/orwl/stencil/picture"
	"github.com/orwl/go-orwl/orwl/watch"
)

// watchFlag is -watch, which may have a value. It is ORWL_WATCH for this process.
type watchFlag struct{}

func (watchFlag) IsBoolFlag() bool { return true }
func (watchFlag) String() string   { return "" }

func (watchFlag) Set(at string) error {
	if at == "true" {
		at = "1"
	}
	return os.Setenv(watch.Variable, at)
}

// watched reports whether a page shows this run.
func watched() bool {
	at := os.Getenv(watch.Variable)
	return at != "" && at != "0"
}

// watchedLong is the longer side of the picture in pixels.
const watchedLong = 300

// paint paints the field for the page.
func (v View) paint(ctx context.Context) (watch.Picture, error) {
	row, first, last, err := v.source.snapshot(ctx)
	if err != nil {
		return watch.Picture{}, err
	}
	p := v.panel(row, nil)
	p.Long = watchedLong
	w := watch.Picture{Title: fmt.Sprintf("%s after %d sweeps", p.Title, first), Done: int64(first), Total: int64(v.source.grid().Last())}
	if last > first {
		w.Title = fmt.Sprintf("%s after %d to %d sweeps", p.Title, first, last)
	}
	var to bytes.Buffer
	err = picture.Picture{p}.PNG(&to)
	w.PNG = to.Bytes()
	return w, err
}
