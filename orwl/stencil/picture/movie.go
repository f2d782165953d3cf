package picture

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"io"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// Movie is pictures of one size, one after another.
type Movie struct{ frames gif.GIF }

// Add adds a picture that is shown for so long. Its panels need Least and Most, so that
// colours mean the same in all of them.
func (m *Movie) Add(p Picture, shown time.Duration) {
	from := p.Image()
	frame := image.NewPaletted(from.Bounds(), p.colours())
	draw.Draw(frame, frame.Bounds(), from, image.Point{}, draw.Src)
	m.frames.Image = append(m.frames.Image, frame)
	m.frames.Delay = append(m.frames.Delay, int(shown/(10*time.Millisecond)))
}

// Len is the number of pictures.
func (m *Movie) Len() int { return len(m.frames.Image) }

// GIF writes the movie, which goes round for ever. A movie without a picture is an error.
func (m *Movie) GIF(to io.Writer) error { return gif.EncodeAll(to, &m.frames) }

// colours are those that a picture needs: black and white, grey for lines, and as many of its
// palettes as a GIF has room for.
func (p Picture) colours() (all color.Palette) {
	all = color.Palette{rgb(0xFFFFFF), rgb(0), rgb(0x606060), outOfRange}
	each := (256 - len(all)) / max(1, len(p))
	for _, panel := range p {
		palette := panel.Palette
		if palette == nil {
			palette = Viridis()
		}
		for i := range each {
			all = append(all, palette.at(float64(i)/float64(each-1)))
		}
	}
	return all
}

// Film takes a snapshot of a field again and again, until ctx ends, and adds what draw makes of
// it to the movie. Start it beside the run:
//
//	film, cut := context.WithCancel(ctx)
//	filmed := make(chan error)
//	go func() { filmed <- picture.Film(film, u, time.Second/10, &movie, draw) }()
//	err := rt.Run(ctx)
//	cut()
//	<-filmed
func Film[T any](ctx context.Context, f *stencil.Field[T], every time.Duration, m *Movie, draw func(stencil.Snapshot[T]) Picture) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s, err := f.Snapshot(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			m.Add(draw(s), every)
		case !errors.Is(err, orwl.ErrEarly):
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
