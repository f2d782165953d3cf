package queue

import (
	"sync/atomic"
	"testing"
)

// BenchmarkRelaxed measures what relaxed access costs ordered access, and itself: without
// a guard, with a guard and no relaxed access, and beside a goroutine that reads over
// and over.
func BenchmarkRelaxed(b *testing.B) {
	for _, guard := range []string{"none", "free", "hammered"} {
		made := func(b *testing.B) (r *Resource, end func()) {
			if r, _ = New("r", 16); guard == "none" {
				return r, func() {}
			}
			r, _ = hinged(b, "RMA-RW", RelaxedOptions{})
			fine(b, r.Open(background))
			if guard == "free" {
				return r, func() {}
			}
			var stop atomic.Bool
			n, done := 0, make(chan bool)
			go func() {
				for ; !stop.Load(); n++ {
					_ = r.ReadRelaxed(background, ignore)
				}
				close(done)
			}()
			return r, func() {
				stop.Store(true)
				<-done
				b.ReportMetric(float64(n)/float64(b.N), "reads/op")
			}
		}
		b.Run("access/"+guard, func(b *testing.B) {
			r, end := made(b)
			var p Place
			b.ReportAllocs()
			for b.Loop() {
				_ = p.Request(r, Write)
				_ = p.Acquire(background)
				_ = p.Release()
			}
			end()
		})
		b.Run("pair/"+guard, func(b *testing.B) {
			r, end := made(b)
			var p Place
			_ = p.Request(r, Write)
			b.ReportAllocs()
			for b.Loop() {
				_ = p.Acquire(background)
				_ = p.Renew()
			}
			_ = p.Cancel()
			end()
		})
		b.Run("alternate/"+guard, func(b *testing.B) {
			r, end := made(b)
			var p, o Place
			_ = p.Request(r, Write)
			_ = o.Request(r, Write)
			n, done := b.N, make(chan bool)
			b.ReportAllocs()
			go func() {
				for range n {
					_ = o.Acquire(background)
					_ = o.Renew()
				}
				_ = o.Cancel()
				close(done)
			}()
			for range n {
				_ = p.Acquire(background)
				_ = p.Renew()
			}
			_ = p.Cancel()
			<-done
			end()
		})
	}
	b.Run("read", func(b *testing.B) {
		r, _ := hinged(b, "RMA-RW", RelaxedOptions{})
		b.ReportAllocs()
		for b.Loop() {
			_ = r.ReadRelaxed(background, ignore)
		}
	})
	b.Run("write", func(b *testing.B) {
		r, _ := hinged(b, "RMA-RW", RelaxedOptions{})
		b.ReportAllocs()
		for b.Loop() {
			_ = r.WriteRelaxed(background, ignore)
		}
	})
}
