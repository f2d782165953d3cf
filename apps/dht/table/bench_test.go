package table

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

var ratioTurns = flag.Int("ratios.turns", 7, "how often both take turns; the median counts")

// BenchmarkNodes is batches of reads by several clients of one node, whose keys are all
// there, against the same where half of the keys are kept by another process:
//
//	go test ./apps/dht/table -run '^$' -bench Nodes -benchtime 1x
//
// A line has millions of reads per second of both, and their ratio: medians of turns.
func BenchmarkNodes(b *testing.B) {
	const keys, clients, perTurn = 1 << 15, 16, 1 << 17
	nodes, ready, _ := spouse(b, orwl.JoinOptions{})
	two := newStrings(b, Options{}, nodes)[0]
	ready()
	one := newStrings(b, Options{})[0]
	for _, size := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("batches of %d", size), func(b *testing.B) {
			turn := func(t *Strings) float64 {
				var all sync.WaitGroup
				began := time.Now()
				for c := range clients {
					all.Go(func() {
						ops, results := make([]Op, size), make([]Result, size)
						names := make([][]byte, size)
						for done := 0; done < perTurn/clients; done += size {
							for i := range ops {
								names[i] = fmt.Append(names[i][:0], "key:", (c*perTurn/clients+done+i)*7919%keys)
								ops[i] = Op{Kind: Get, Key: names[i]}
								results[i].Value = results[i].Value[:0]
							}
							t.Do(background, ops, results)
						}
					})
				}
				all.Wait()
				return perTurn / float64(time.Since(began).Microseconds())
			}
			for _, t := range []*Strings{one, two} {
				ops, results := make([]Op, keys), make([]Result, keys)
				for i := range ops {
					ops[i] = Op{Kind: Set, Key: fmt.Append(nil, "key:", i), Value: []byte("a short value")}
				}
				t.Do(background, ops, results)
			}
			var rates [2][]float64
			var ratios []float64
			for b.Loop() {
				for range *ratioTurns {
					here, there := turn(one), turn(two)
					rates[0], rates[1] = append(rates[0], here), append(rates[1], there)
					ratios = append(ratios, there/here)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(rates[0]), "one-M/s")
			b.ReportMetric(median(rates[1]), "two-M/s")
			b.ReportMetric(median(ratios), "two/one")
			b.ReportMetric(0.6, "goal")
		})
	}
}

func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}
