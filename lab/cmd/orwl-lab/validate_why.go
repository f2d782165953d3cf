package main

import (
	"fmt"
	"math"
	"strings"
)

// An iteration of all ranks is made of three parts:
//
//	iteration = free + contended * hand-over
//
// free is what an acquisition takes that meets no other rank, and contended the share of
// acquisitions that wait for another rank. The hand-over is what these take longer. So a prediction
// that is far off has one of the three wrong, or several.

// parts is what an iteration is made of.
type parts struct {
	Free      float64 `json:"free_ns"`
	Contended float64 `json:"contended"`
	HandOver  float64 `json:"hand_over_ns"`
}

func partsOf(iteration, free, contended float64) parts {
	p := parts{Free: free, Contended: contended}
	if contended > 0 {
		p.HandOver = (iteration - free) / contended
	}
	return p
}

func (p parts) iteration() float64 { return p.Free + p.Contended*p.HandOver }

// why names what a prediction has wrong: the fewest parts that make it near once they are as
// measured, and of as few those that make it nearest.
func why(measured, predicted parts) string {
	effects := []struct {
		mend func(p *parts)
		name string
	}{
		{func(p *parts) { p.Free = measured.Free },
			fmt.Sprintf("a rank's own instructions (free: %.0f ns for %.0f)", predicted.Free, measured.Free)},
		{func(p *parts) { p.Contended = measured.Contended },
			fmt.Sprintf("how often ranks meet (contended: %.1f %% for %.1f)", 100*predicted.Contended, 100*measured.Contended)},
		{func(p *parts) { p.HandOver = measured.HandOver },
			fmt.Sprintf("what a hand-over takes (%.0f ns for %.0f)", predicted.HandOver, measured.HandOver)},
	}
	for _, sets := range [][][]int{{{0}, {1}, {2}}, {{0, 1}, {0, 2}, {1, 2}}} {
		best, least := "", math.Inf(1)
		for _, set := range sets {
			mended, names := predicted, []string(nil)
			for _, i := range set {
				effects[i].mend(&mended)
				names = append(names, effects[i].name)
			}
			off := math.Abs(mended.iteration() - measured.iteration())
			if near(mended.iteration(), measured.iteration()) && off < least {
				best, least = strings.Join(names, ", and "), off
			}
		}
		if best != "" {
			return best
		}
	}
	return strings.Join([]string{effects[0].name, effects[1].name, effects[2].name}, ", and ")
}
