package resource

import (
	"context"
	"testing"
)

func BenchmarkFree(b *testing.B) {
	r, _ := New("r", 0)
	ctx := context.Background()
	b.Run("access", func(b *testing.B) {
		var p Place
		b.ReportAllocs()
		for b.Loop() {
			p.Request(r, Write)
			p.Acquire(ctx)
			p.Release()
		}
	})
	b.Run("pair", func(b *testing.B) {
		var p Place
		p.Request(r, Write)
		b.ReportAllocs()
		for b.Loop() {
			p.Acquire(ctx)
			p.Renew()
		}
		p.Cancel()
	})
	b.Run("channel", func(b *testing.B) {
		c := make(chan struct{}, 1)
		for b.Loop() {
			c <- struct{}{}
			<-c
		}
	})
}

func BenchmarkAlternate(b *testing.B) {
	b.Run("pairs", func(b *testing.B) {
		r, _ := New("r", 0)
		ctx := context.Background()
		var p, o Place
		p.Request(r, Write)
		o.Request(r, Write)
		n := b.N
		done := make(chan bool)
		b.ReportAllocs()
		go func() {
			for range n {
				o.Acquire(ctx)
				o.Renew()
			}
			o.Cancel()
			close(done)
		}()
		for range n {
			p.Acquire(ctx)
			p.Renew()
		}
		p.Cancel()
		<-done
	})
	b.Run("channel", func(b *testing.B) {
		c, d := make(chan struct{}), make(chan struct{})
		n := b.N
		go func() {
			for range n {
				<-c
				d <- struct{}{}
			}
		}()
		for range n {
			c <- struct{}{}
			<-d
		}
	})
}
