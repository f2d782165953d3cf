//go:build unix

package show

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"testing"

	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/watch"
)

// The page of a grid shows its field as it changes, how many sweeps a second there are, and how far it is.
func TestPageOfAField(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := browser.Open(t, 1280, 900)
	t.Setenv(watch.Variable, "127.0.0.1:0")
	var log bytes.Buffer
	rt, err := orwl.New(orwl.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`msg=watch url=(\S+)`).FindStringSubmatch(log.String())
	if link == nil {
		t.Fatalf("no link: %s", log.String())
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{40, 60}, Blocks: stencil.Size{2, 3}, Sweeps: 1})
	u := stencil.NewField(g, "count", stencil.FieldOptions[int32]{Halo: stencil.Around(1)})
	if err := g.Sweep(1_000_000_000, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			for i := range next {
				next[i] = old[i] + int32(i)%7
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- new(Look).Run(ctx, Field(u)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the run ends with %v", err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Show(link[1])
	b.Until(`!$('fieldbox').hidden && $('field').naturalWidth > 100 && /^count after \d/.test($('caption').textContent)`)
	b.Eval(`window.first = $('field').src`)
	b.Until(`$('field').src !== first`)
	b.Until(`/[1-9][\d.]* sweeps a second/.test($('numbers').innerText) && /% done, about \d+ h left/.test($('numbers').innerText)`)
	b.Eval(`$('wave').click()`) // the wavefront: how far each block is
	b.Until(`$('note').textContent.includes('Dark is behind and light is ahead: rounds ')`)
	b.Shot("field")
}
