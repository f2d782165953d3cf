//go:build unix

package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/rings"
)

// A step reads two resources. Its wait has the part until the last of them was released, the part until the bytes had come, and
// the part until a worker was free.
func TestCauses(t *testing.T) {
	trace := &Trace{To: 100, Tracks: []Track{
		{Task: "near", Accesses: []Access{{"a", true}}, Turns: []Turn{{Requested: 0, Here: none, Asked: none, Acquired: 0, Released: 30, Fence: 1}}},
		{Task: "far", Node: 1, Accesses: []Access{{"b", true}}, Turns: []Turn{{Requested: 0, Here: none, Asked: none, Acquired: 0, Released: 40, Fence: 1}}},
		{Task: "step", Accesses: []Access{{"a", false}, {"b", false}}, Turns: []Turn{
			{Access: 0, Requested: 0, Here: none, Asked: 10, Acquired: 70, Released: 80, Fence: 1},
			{Access: 1, Requested: 0, Here: 55, Asked: none, Acquired: 70, Released: 80, Fence: 1, Bytes: 8},
		}},
	}}
	got := fmt.Sprint(trace.stretches(trace.before(), 2))
	if want := "[{0 10 40 1 1} {1 40 55 1 1} {2 55 70 1 1}]"; got != want { // cause, from, to, access, behind
		t.Errorf("%s, want %s", got, want)
	}
	if travelled, hidden := trace.hidden(); travelled != 55 || hidden != 55 {
		t.Errorf("bytes travelled for %d and %d of it were hidden", travelled, hidden)
	}
	// Nothing is known of the one before: it waits for a turn.
	trace.Tracks = trace.Tracks[2:]
	trace.Tracks[0].Turns = trace.Tracks[0].Turns[:1]
	if got, want := fmt.Sprint(trace.stretches(trace.before(), 0)), "[{0 10 70 0 -1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Runs that overlap are in different lanes of workers, and a lane is used again as soon as it is free.
func TestWorkerLanes(t *testing.T) {
	const us = time.Microsecond
	slices := func(times ...time.Duration) (all []Slice) {
		for i := 0; i < len(times); i += 2 {
			all = append(all, Slice{Compute, times[i] * us, times[i+1] * us})
		}
		return all
	}
	trace := &Trace{To: 100 * us, Tracks: []Track{
		{Task: "a", Slices: slices(0, 40, 50, 100)},
		{Task: "b", Slices: slices(20, 60)},
		{Task: "c", Slices: slices(70, 100)},
		{Task: "d", Node: 1, Slices: slices(0, 10, 11, 20)},
	}}
	f := trace.facts()
	var got []string
	for _, l := range f.Workers {
		text := fmt.Sprintf("node %d %s:", l.Node, l.Name)
		for _, e := range f.order[l.First : l.First+l.Count] {
			text += " " + f.Tasks[f.columns[colTask][e]]
		}
		got = append(got, text)
	}
	if want := "[node 0 worker 0: a a node 0 worker 1: b c node 1 worker 0: d d]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if f.Busy < 0.59 || f.Busy > 0.61 { // 90, 70 and 20 of 300
		t.Errorf("busy for %v", f.Busy)
	}
}

// pageOf writes the page of a trace, and opens it.
func pageOf(t *testing.T, trace *Trace) *browser.Browser {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.html")
	var page bytes.Buffer
	if err := trace.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"http://", "https://", "//cdn", "import(", "innerHTML", "<evil>"} {
		if strings.Contains(page.String(), from) {
			t.Errorf("the page has %q: it may load nothing, and names are no HTML", from)
		}
	}
	if err := os.WriteFile(name, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, 1280, 800)
	b.Show("file://" + name)
	b.Until(`document.documentElement.dataset.ready > 0`)
	return b
}

// The page says who waited for whom, and keys lead through it.
func TestHTML(t *testing.T) {
	rings.Needs(t, rings.Change)
	file, err := os.Open("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	trace, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	trace.Tracks[0].Task = "<evil>"
	b := pageOf(t, trace)
	b.Until(`$('summary').textContent.startsWith('3 tasks on 1 node took 24 ms. ')`)
	b.Until(`$('waits').rows.length > 0 && $('waits').innerText.includes('behind')`)
	b.Until(`$('parts').rows.length > 1 && $('path').textContent.startsWith('24 ms, from task to task 5 times: ')`)
	b.Key("t")
	b.Until(`byTask && $('by').textContent === 'By worker'`)
	b.Eval(`for (let k = 0; k < facts.lanes[0].count; k++) if ((columns[whatCol][k] & ~onPath) < 3) say(0, columns[fromCol][k] + columns[lastsCol][k] / 2)`)
	b.Until(`/for [^ ]+, behind /.test($('tip').textContent)`)
	b.Key("+")
	b.Until(`end - begin < all`)
	b.Key("0")
	b.Until(`end - begin === all`)
	b.Shot("small")
	b.Eval(`$('theme').click()`)
	b.Shot("dark")
}

// A page of a million events opens in three seconds.
func TestHTMLOfMany(t *testing.T) {
	rings.Needs(t, rings.Change)
	const tasks, each = 1000, 1000
	trace := &Trace{To: tasks * each * 10 * time.Microsecond / 8}
	for n := range tasks {
		k := Track{Task: fmt.Sprint("task ", n), Node: n % 4, Accesses: []Access{{fmt.Sprint("r ", n), true}}}
		for i := range each {
			at := time.Duration(i*tasks+n) * 10 * time.Microsecond / 8
			k.Slices = append(k.Slices, Slice{[]string{Compute, "read", "write"}[i%3], at, at + 9*time.Microsecond})
		}
		trace.Tracks = append(trace.Tracks, k)
	}
	b := pageOf(t, trace)
	ms := b.Eval(`Number(document.documentElement.dataset.ready)`).(float64)
	drawn := b.Eval(`(() => { const t = performance.now(); for (let k = 0; k < 5; k++) draw(); return (performance.now() - t) / 5 })()`)
	t.Logf("%v events are shown after %.0f ms, and drawn in %.0f ms", b.Eval(`n`), ms, drawn)
	if b.Eval(`n`) != float64(tasks*each) {
		t.Errorf("%v events", b.Eval(`n`))
	}
	b.Shot("many")
	b.Key("t")
	b.Shot("tasks")
}
