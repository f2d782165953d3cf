package watch

import (
	"context"
	"sync"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// Picture is a picture of a program's data at some moment.
type Picture struct {
	Title string `json:"title"`
	PNG   []byte `json:"png"`
	Done  int64  `json:"done"` // sweeps, of Total
	Total int64  `json:"total"`
}

// painters are by runtime.
var painters sync.Map

// Show has the page of a runtime show a picture, once a second while it has a reader. Package show calls it for a grid.
func Show(rt *orwl.Runtime, paint func(ctx context.Context) (Picture, error)) (stop func()) {
	painters.Store(rt, paint)
	return func() { painters.Delete(rt) }
}

// painting is a Picture as a page is told it.
type painting struct {
	At int64 `json:"at"`
	Picture
}

// paint has the picture painted, if its time has come. A painting may wait for a task.
func (p *Page) paint(rt *orwl.Runtime) {
	found, _ := painters.Load(rt)
	paint, is := found.(func(ctx context.Context) (Picture, error))
	p.mu.Lock()
	defer p.mu.Unlock()
	if !is || p.painting || time.Since(p.painted) < slowTick {
		return
	}
	p.painting, p.painted = true, time.Now()
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan struct{})
		defer close(done)
		go func() {
			select {
			case <-p.over:
				cancel()
			case <-done:
			}
		}()
		began := time.Now()
		picture, err := paint(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.painting = false
		p.painted = p.painted.Add((share - 1) * time.Since(began))
		if err == nil {
			p.keep(event{time.Now(), 0, render("picture", painting{time.Now().UnixMilli(), picture})})
		}
	}()
}
