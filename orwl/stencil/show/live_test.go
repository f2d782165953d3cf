package show

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// A live view shows what a snapshot has, at each tick and in the end, each over the one before.
func TestLive(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const sweeps = 9
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{4, 6}, Blocks: stencil.Size{1, 1}, Sweeps: 1})
	u := stencil.NewField(g, "count", stencil.FieldOptions[int32]{Halo: stencil.Around(1)})
	ticks, drawn, told := make(chan time.Time), make(chan struct{}), false
	if err := g.Sweep(sweeps, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			for i := range next {
				next[i] = old[i] + 1
			}
			if old[0] == 5 && !told { // in the sixth sweep: a snapshot waits for its end
				told = true
				ticks <- time.Time{}
				close(drawn)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	view := Field(u).Between(0, sweeps)
	view.source.grid().AllowSnapshots()
	var out strings.Builder
	l := &live{view: view, out: &out, size: func() (int, int) { return 60, 24 }}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		l.follow(t.Context(), ticks, quit)
	}()
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-drawn
	close(quit)
	<-ended
	text := out.String()
	pictures := strings.Split(text, "\x1b[")
	if len(pictures) != 2 || !strings.Contains(pictures[0], "count, 0 to 9, sweep ") || !strings.HasPrefix(pictures[1], "9A\r") || !strings.Contains(pictures[1], "sweep 9 ") ||
		!strings.Contains(pictures[1], "\n"+strings.Repeat("@", 24)+"\n") {
		t.Errorf("it draws\n%s", text)
	}
}

// A live view needs a terminal, and says so before anything runs.
func TestLiveWithoutTerminal(t *testing.T) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	look := Flags(fs)
	if err := fs.Parse([]string{"-live"}); err != nil {
		t.Fatal(err)
	}
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{4}})
	u := stencil.NewField(g, "count", stencil.FieldOptions[int32]{})
	if err := g.Sweep(1, func(*stencil.Block) { t.Error("it runs") }); err != nil {
		t.Fatal(err)
	}
	devNull, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer devNull.Close()
	look.out = devNull
	if err := look.Run(context.Background(), Field(u)); !errors.Is(err, errNoTerminal) {
		t.Errorf("%v, want %v", err, errNoTerminal)
	}
}
