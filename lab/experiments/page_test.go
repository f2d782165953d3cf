package experiments

import (
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// made are all runs of a plan, as if an element took 2 ns and a block 100 ns, and the last one left
// out.
func made(t *testing.T, p plan) []point {
	points := p.points()
	for i := range points {
		o := &points[i]
		o.NsPerElement = 2 + 100*float64(o.blocks[0]*o.blocks[1])/o.elements()
		o.Seconds = 1e-9 * o.NsPerElement * o.elements() * float64(o.iterations)
		o.LeastWaitShare = max(0, 1-float64(p.cores)/float64(o.blocks[0]*o.blocks[1]))
		o.ComputeShare = 0.9 * (1 - o.LeastWaitShare)
		o.WaitShare = 1 - o.ComputeShare
	}
	points[len(points)-1].leftOut = "it is <too> large"
	points, err := p.predict(t.Context(), points, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return points
}

// TestPage checks that the page has all figures, that they are XML, and that nothing is fetched. The
// legend has a line of each series that is dashed, and a mark of each other one. Every fourth series has circles.
func TestPage(t *testing.T) {
	rings.Needs(t, rings.Change)
	p := plan{cores: 2, memory: 16 << 30, time: 15 * time.Minute, kernel: "listing"}.withScale()
	points := made(t, p)
	var page strings.Builder
	if err := p.page(&page, points, time.Now()); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	figures := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1)
	if len(figures) != 5 {
		t.Fatalf("the page has %d figures", len(figures))
	}
	for i, want := range []struct{ lines, marks int }{{5, 2 * 9}, {15, 2 * 9}, {3, 6}, {3, 3}, {2, 8}} {
		for d := xml.NewDecoder(strings.NewReader(figures[i])); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("figure %d: %v", i, err)
			}
		}
		if lines, marks := strings.Count(figures[i], ` stroke-width="2"`), strings.Count(figures[i], "<circle"); lines != want.lines || marks != want.marks {
			t.Errorf("figure %d has %d lines and %d marks, want %+v", i, lines, marks, want)
		}
		if strings.Contains(figures[i], "NaN") || strings.Contains(figures[i], "Inf") {
			t.Errorf("figure %d has no number somewhere", i)
		}
	}
	for _, want := range []string{"Fig. 2(a)", "Fig. 2(b)", "Fig. 2(c)", "Fig. 2(d)", "§4.2.1", "§4.2.2", "§4.2.3", "§4.2.4", "coolmuc-2", "it is &lt;too&gt; large"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if outside := regexp.MustCompile(`(?i)(src=|href="http|url\(|<script|@import|<link)`).FindString(text); outside != "" {
		t.Errorf("the page has %q: want one that needs no network", outside)
	}
}

// TestTable reads the CSV back.
func TestTable(t *testing.T) {
	points := made(t, plan{cores: 2, time: 5 * time.Second, scale: 0.01, kernel: "listing"})
	var text strings.Builder
	if err := table(&text, points); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(rows) != 1+len(points) {
		t.Fatalf("%d rows, %v, want %d", len(rows), err, 1+len(points))
	}
	if got, want := fmt.Sprint(rows[1][:6]), "[2a 2x2 16x16 1 2 0]"; got != want {
		t.Errorf("the first run is %v, want %v", got, want)
	}
	at := slices.IndexFunc(rows, func(row []string) bool { return row[12] == "it is <too> large" })
	if at < 0 || rows[at][7] != "" || rows[at][13] != "" {
		t.Errorf("the run that was left out is row %d", at)
	}
	if last := rows[len(rows)-1]; last[7] == "" || last[13] != "coolmuc-2" {
		t.Errorf("the last prediction is %v", last)
	}
}

// TestEmptyFigures draws figures whose runs were all left out.
func TestEmptyFigures(t *testing.T) {
	p := plan{cores: 2, time: 5 * time.Second, scale: 0.01, kernel: "listing"}
	points := made(t, p)
	for i := range points {
		points[i].leftOut = "there is no time for it"
	}
	var page strings.Builder
	if err := p.page(&page, points, time.Now()); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); strings.Count(text, "<svg") != 5 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("the page is %s", text)
	}
}
