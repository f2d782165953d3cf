//go:build unix

package watch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// opened opens the page of planted runs: next is called for each look.
func opened(t *testing.T, width, height int, next func() inspect.Run) *browser.Browser {
	t.Helper()
	p := New(func() *orwl.Runtime { return nil })
	p.ask = func(context.Context) (inspect.Run, bool) { return next(), true }
	return show(t, p, width, height)
}

func show(t *testing.T, p *Page, width, height int) *browser.Browser {
	t.Helper()
	b := browser.Open(t, width, height)
	serving(t, b, p)
	b.Until(`typeof looks === 'object' && looks.length > 1`)
	return b
}

// serving serves a page, and opens it.
func serving(t *testing.T, b *browser.Browser, p *Page) (address string) {
	t.Helper()
	mux := http.NewServeMux()
	p.Register(mux)
	s, err := port.Serve(t.Context(), port.Options{Address: "127.0.0.1:0", Handler: mux, Closing: p.Close})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b.Show("http://" + s.Address() + "/")
	return s.Address()
}

// The page names the culprit of a hang, and the keys lead there.
func TestPageOfAHang(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := opened(t, 1280, 800, func() inspect.Run { return ring(false) })
	b.Until(`$('verdict').className === 'stands' && $('text').textContent.includes('node 2 (process 4713 on host2): task south works in round 7 for 4.2s, at main.relax (halo.go:42, chan receive), and holds edge 2; 2 tasks wait for it')`)
	b.Eval(`$('tasks').focus()`)
	b.Key("ArrowDown")
	b.Until(`chosen === 'north'`)
	b.Until(`$('why').innerText.replace(/\s+/g, ' ').includes('north (node 0) waits for its turn to read edge 1, for 4.2 s middle (node 1) waits for its turn to read edge 2, for 4.2 s south (node 2) computes, in round 7')`)
	b.Until(`$('why').innerText.includes('All of them wait for the last one.')`)
	b.Shot("hang")
	b.Key("Enter")
	b.Until(`chosen === 'middle'`)
	b.Key("c")
	b.Until(`chosen === 'south' && $('why').innerText.includes('2 tasks wait for south.')`)
	b.Key("Escape")
	b.Until(`chosen === null`)
	b.Key(" ")
	b.Until(`at >= 0 && $('pause').textContent === 'Go on'`)
	b.Eval(`window.was = at`)
	b.Key("[")
	b.Until(`at === Math.max(0, was - 1)`)
	b.Key("]")
	b.Until(`at === was`)
	b.Eval(`window.moment = shown().at`)
	b.Key(" ")
	b.Until(`at < 0`)
	b.Key("t")
	b.Until(`document.documentElement.dataset.theme === 'dark'`)
	b.Shot("dark")
	b.Key("?")
	b.Until(`$('keys').open`)
	b.Eval(`$('keys').close()`)
	// A link to a moment shows it, and its task.
	b.Eval(`window.link = '/#at=' + moment + '&task=north'; location.hash = link.slice(1); openLink()`)
	b.Until(`at >= 0 && shown().at === moment && chosen === 'north'`)
	b.Eval(`location.hash = '#at=1'; openLink()`)
	b.Until(`$('head').textContent.includes('is gone')`)
}

// A click on a task says why it waits, with the chain to the culprit. A link to this moment shows the same on another page, and a
// foreign name for this machine gets nothing.
func TestPageIsClicked(t *testing.T) {
	rings.Needs(t, rings.Change)
	p := New(func() *orwl.Runtime { return nil })
	p.ask = func(context.Context) (inspect.Run, bool) { return ring(false), true }
	b := browser.Open(t, 1280, 800)
	address := serving(t, b, p)
	b.Until(`typeof looks === 'object' && looks.length > 2 && cells.length === 4`)
	spot := func(of string) float64 { return b.Eval(of).(float64) }
	click := func(task string) {
		b.Eval(`window.box = $('tasks').getBoundingClientRect(); window.cell = cells[numberOf(shown(), '` + task + `')]`)
		b.Click(spot(`box.left + cell.x + cell.w / 2`), spot(`box.top + cell.y + cell.h / 2`))
	}
	click("middle")
	b.Until(`chosen === 'middle' && $('why').innerText.replace(/\s+/g, ' ').startsWith('middle (node 1) waits for its turn to read edge 2, for 4.2 s south (node 2) computes, in round 7')`)
	click("log")
	b.Until(`chosen === 'log' && $('why').innerText.includes('It needs a worker')`)
	click("north")
	b.Until(`/^from/.test($('sent').innerText) && /[1-9]\d* kB/.test($('sent').innerText)`) // bytes from node to node
	// The strip leads back, and the link of a moment leads there.
	b.Eval(`window.strip = $('time').getBoundingClientRect()`)
	b.Click(spot(`strip.right - 2`), spot(`strip.top + 20`))
	b.Until(`at >= 0`)
	b.Eval(`step(-1e9); copy()`)
	b.Until(`$('head').textContent.includes('The node keeps this moment for a minute.')`)
	moment := spot(`shown().at`)
	b.Show("about:blank")
	b.Show(fmt.Sprintf("http://%s/#at=%.0f&task=north", address, moment))
	b.Until(fmt.Sprintf(`typeof looks === 'object' && at >= 0 && shown().at === %.0f && chosen === 'north' && $('why').innerText.includes('south')`, moment))
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	b.Show("http://page.localhost:" + port + "/") // a browser takes each name of localhost for this machine
	b.Until(`typeof looks === 'undefined' && !document.body.innerText.includes('node 2')`)
}

// Each state has a shape of its own, in the legend, in the map, however small, and in the strip of time: nobody needs the colours.
func TestPageWithoutColours(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := opened(t, 1280, 800, func() inspect.Run { return ring(false) })
	b.Call("Emulation.setEmulatedVisionDeficiency", map[string]any{"type": "achromatopsia"})
	b.Until(`shown().count.t === 2`)
	b.Shot("grey")
	same, _ := b.Eval(`(() => {
		const all = Object.keys(states).sort(), same = []
		const was = colours; colours = {...was}; for (const s of all) colours[s] = '#000'
		for (const s in tiled) delete tiled[s]
		const seen = (draw, size) => all.map(s => { const c = document.createElement('canvas'); c.width = c.height = size; const g = c.getContext('2d'); draw(g, s, size); return g.getImageData(0, 0, size, size).data })
		const differ = (what, pictures, least) => all.forEach((s, k) => all.slice(0, k).forEach((o, m) => { let n = 0; for (let i = 3; i < pictures[k].length; i += 4) n += Math.abs(pictures[k][i] - pictures[m][i]) > 64; if (n < least) same.push(what + ': ' + s + ' and ' + o + ' differ in ' + n + ' points') }))
		for (const size of [6, 7, 9, 14, 20]) differ('shapes of ' + size, seen((g, s) => shape(g, s, 0, 0, size, size), size), 4)
		differ('the strip', seen((g, s) => { if (s !== 'i') { g.fillStyle = tile(g, s); g.fillRect(0, 0, 24, 24) } }, 24), 40)
		colours = was; for (const s in tiled) delete tiled[s]
		return same.join('\n')
	})()`).(string)
	if same != "" {
		t.Error(same)
	}
}

// The page names a node that does not answer, and keeps its tasks.
func TestPageOfASilentNode(t *testing.T) {
	rings.Needs(t, rings.Change)
	looked := 0
	b := opened(t, 1280, 800, func() inspect.Run { looked++; return ring(looked > 3) })
	b.Until(`$('text').textContent.includes('node 2 (process 4713 on host2) does not answer for 4.2s; 2 tasks wait for it')`)
	b.Until(`shown().count.x === 1 && numberOf(shown(), 'south') >= 0`)
	b.Eval(`choose('north')`)
	b.Until(`$('why').innerText.includes('node 2')`)
	b.Shot("silent")
}

// The page is readable on a phone.
func TestPageOnAPhone(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := opened(t, 390, 800, func() inspect.Run { return ring(false) })
	b.Until(`$('verdict').className === 'stands'`)
	b.Eval(`choose('north')`)
	b.Until(`$('why').innerText.includes('south')`)
	if wide := b.Eval(`document.documentElement.scrollWidth`).(float64); wide > 390 {
		t.Errorf("the page is %v points wide, and the phone 390", wide)
	}
	b.Shot("phone")
}

// 4,000 tasks of 64 nodes fit, and a look is drawn quickly.
func TestPageOfMany(t *testing.T) {
	rings.Needs(t, rings.Change)
	looked := int64(0)
	next := func() inspect.Run {
		looked++
		r := inspect.Run{Now: time.Now()}
		for n := range 64 {
			s := &inspect.State{Node: n, Running: true, Workers: &inspect.Workers{All: 4, Asleep: n % 3}}
			for i := range 63 {
				name := fmt.Sprintf("block %d,%d", n, i)
				task := inspect.TaskState{Task: name, Node: n, State: inspect.TaskWorking, Round: looked*10 + int64((n+i)%7), Rounds: 1000}
				switch k := (n*63 + i + int(looked)) % 11; {
				case k > 6:
					task.State, task.Waits = inspect.TaskWaiting, &inspect.WaitState{Resource: "r", Mode: "read"}
					s.WaitsFor = append(s.WaitsFor, inspect.WaitEdge{From: name, To: fmt.Sprintf("block %d,%d", (n+1)%64, i), Resource: "r", Node: (n + 1) % 64, Round: looked * int64(k%2) * 1000})
				case k > 4:
					task.State = inspect.TaskQueued
				case k > 3:
					task.State = inspect.TaskEnded
				}
				s.Tasks = append(s.Tasks, task)
			}
			for to := range 64 {
				s.Sent = append(s.Sent, uint64(looked)*uint64((to+n)%5)<<10)
			}
			r.Nodes = append(r.Nodes, inspect.NodeReport{Node: n, Process: inspect.Process{ID: 100 + n, Host: "h"}, Status: inspect.NodeHere, State: s})
		}
		return r
	}
	b := opened(t, 1280, 900, next)
	b.Until(`shown().states.length === 4032 && tiles.length === 64 && cells.filter(c => c).length === 4032`)
	b.Until(`looks.length > 4 && !$('sentbox').hidden`)
	ms := b.Eval(`(() => { const t = performance.now(); for (let k = 0; k < 10; k++) draw(); return (performance.now() - t) / 10 })()`)
	t.Logf("a look is drawn in %.1f ms", ms)
	b.Eval(`choose('block 5,9')`)
	b.Shot("many")
	b.Key("w")
	b.Until(`wave && $('note').textContent.includes('Dark is behind')`)
	b.Shot("rounds")
}

// The page shows the locks of a run with their fairness, the tasks that workers take from each other, the grids, and the
// queue of a resource as it moves.
func TestPageOfLocks(t *testing.T) {
	rings.Needs(t, rings.Change)
	looked := uint64(0)
	b := opened(t, 1280, 900, func() inspect.Run {
		looked++
		r := ring(false)
		s := r.Nodes[0].State
		s.Workers.Taken = 100 * looked
		s.Grids = []inspect.Grid{{Grid: "heat", Done: int64(looked), Total: 1000}, {Grid: "wave", Done: 500, Total: 1000}}
		first := []string{"north", "log"}[looked%2]
		s.Resources = []inspect.ResourceState{
			{Resource: "table", Size: 4096, Guard: &inspect.Guard{Algorithm: "RMA-RW", Acquired: 1000 * looked, Waited: 250 * looked, Near: 500 * looked, Unfair: 0.5}},
			{Resource: "edge 1", Size: 64, Whole: true, Version: looked, Queue: []inspect.GroupState{
				{Mode: "write", Granted: true, Members: []inspect.RequestState{{Who: first}}},
				{Mode: "read", Members: []inspect.RequestState{{Who: "middle"}, {Who: "south"}}},
			}},
		}
		return r
	})
	b.Until(`$('tables').innerText.replace(/\s+/g, ' ').includes('table, RMA-RW')`)
	b.Until(`/table, RMA-RW\s+[1-9]\d+\s+25 %\s+50 %\s+0.50/.test($('tables').innerText)`)
	b.Until(`/[1-9]\d* times a second, a worker took a task of another one/.test($('wtext').textContent)`)
	b.Until(`$('numbers').innerText.replace(/\s+/g, ' ').includes('50 % of wave')`)
	b.Until(`$('blame').innerText.includes('The resources that they waited for longest: ')`)
	b.Eval(`[...$('blame').querySelectorAll('button')].find(e => e.textContent === 'edge 1').click()`)
	b.Until(`!$('queuebox').hidden && $('queue').innerText.replace(/\s+/g, ' ').includes('write: north read: middle, south')`)
	b.Until(`$('queue').innerText.includes('write: log')`) // it has moved
	b.Shot("locks")
	b.Key(" ")
	b.Until(`$('queuenote').textContent.includes('was paused')`)
	b.Eval(`choose('middle')`)
	b.Until(`$('queueof').textContent === 'edge 2'`)
}

// A program without tasks shows its own tables: a bar for each of many rows.
func TestPageOfTables(t *testing.T) {
	rings.Needs(t, rings.Change)
	p := New(func() *orwl.Runtime { return nil })
	read := 0.0
	p.Tables(func(context.Context) []Table {
		read++
		t := Table{Title: "Volumes", Columns: []Column{{"keys", Number}, {"locked, a second", Rate}}}
		for i := range 64 {
			t.Rows = append(t.Rows, Row{fmt.Sprint("volume ", i), []float64{float64(i), read * float64(i)}})
		}
		return []Table{t}
	})
	b := browser.Open(t, 390, 800)
	serving(t, b, p)
	b.Until(`$('head').textContent === 'This program has no tasks' && $('tasksbox').hidden`)
	b.Until(`$('tables').innerText.includes('keys: 0 to 63, mean 31.5')`)
	b.Until(`/locked, a second: 0.0 to [1-9]/.test($('tables').innerText)`)
	b.Until(`document.querySelectorAll('#tables canvas').length === 2`)
	if wide := b.Eval(`document.documentElement.scrollWidth`).(float64); wide > 390 {
		t.Errorf("the page is %v points wide, and the phone 390", wide)
	}
	b.Shot("tables")
}
