//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/browser"
	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/internal/rings"
)

// mostSimulator is how many bytes the simulator has at most, gzipped.
const mostSimulator = 1_000_000

// TestPlayPage builds the page of orwl play, and goes through its stories in a browser.
func TestPlayPage(t *testing.T) {
	rings.Needs(t, rings.Change)
	simulator, err := buildSimulator()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the simulator has %d bytes, gzipped", len(simulator))
	if len(simulator) > mostSimulator {
		t.Errorf("the simulator has %d bytes, want at most %d: has something new come in, such as encoding/json or crypto?", len(simulator), mostSimulator)
	}
	page, err := playPage()
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, 1280, 900)
	s, err := port.Serve(t.Context(), port.Options{Address: "127.0.0.1:0", Handler: playHandler(page)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(); http.DefaultClient.CloseIdleConnections() })
	b.Show("http://" + s.Address() + "/")

	// Readers are granted together.
	b.Until(`begun && !$('system').hidden && $('head').textContent.startsWith('Alive: the 4 tasks')`)
	b.Eval(`$('tasks').children[0].click(); $('tasks').children[0].click()`)
	b.Until(`$('queues').innerText.replace(/\s+/g, ' ').includes('field: ▶ read left, right, logger write writer')`)
	b.Shot("readers")
	b.Eval(`$('tasks').children[1].click(); $('tasks').children[1].click()`)
	b.Until(`$('queues').innerText.replace(/\s+/g, ' ').includes('▶ read right, logger write writer read left')`)

	// A task announces its next access before it releases.
	b.Eval(`tell(1)`)
	b.Until(`$('queues').innerText.replace(/\s+/g, ' ').includes('raw: ▶ write load read filter clean: ▶ write filter read store')`)
	b.Eval(`for (let k = 0; k < 60; k++) $('any').click()`)
	b.Until(`Math.max(...now.tasks.map(t => t.round)) - Math.min(...now.tasks.map(t => t.round)) <= 2 && now.tasks[0].round > 5`)

	// A deadlock is refused, with its circle. Without the @-1 the program lives.
	b.Eval(`tell(2)`)
	b.Until(`$('verdict').className === 'bad' && $('head').textContent === 'Refused: of 2 tasks, 2 would wait for ever.'`)
	b.Until(`$('cycle').innerText.includes('row1 waits to write a (access 1), which row2 holds to read (access 2)')`)
	b.Until(`!$('circle').hasAttribute('hidden') && $('circle').querySelectorAll('rect').length === 2 && $('stands').textContent === 'No task can go on.'`)
	b.Eval(`$("circle").scrollIntoView()`)
	b.Shot("circle")
	b.Eval(`$('text').value = 'task row1: write a, read b\ntask row2: write b, raed a'; $('text').dispatchEvent(new Event('input'))`)
	b.Until(`$('head').textContent.includes('line 2, column 21')`)
	b.Eval(`$('text').value = $('text').value.replace('raed', 'read'); $('text').dispatchEvent(new Event('input'))`)
	b.Until(`$('head').textContent.startsWith('Alive') && $('circle').hasAttribute('hidden') && $('stands').textContent === ''`)

	// The explorer finds what the missing flush breaks, and shows the run step by step.
	b.Eval(`tell(3)`)
	b.Until(`$('source').innerText.includes('func (l *mcs) Release()') && [...$('source').querySelectorAll('mark')].some(e => e.textContent.includes('FlushAll'))`)
	b.Eval(`$('explore').click()`)
	b.Until(`$('found').className === 'bad' && $('found').textContent.includes('stale data')`)
	b.Until(`trace.length > 10 && at === trace.length - 1 && $('words').innerText.includes('tail')`)
	b.Shot("flush")
	b.Until(`(at = trace.findIndex(s => s.what === 'Put ...' && s.where.includes('data')), step(), !$('words').innerText.includes('data'))`) // it has not arrived
	b.Eval(`at = trace.length - 1; step(); $('back').click()`)
	b.Until(`at === trace.length - 2 && document.querySelectorAll('#trace .later').length === 1`)
	b.Eval(`$('which').value = 'mcs-flushed'; $('which').onchange(); $('explore').click()`)
	b.Until(`$('found').className === 'good' && $('found').textContent.includes('in all schedules')`)
	b.Eval(`$('deaths').checked = true; $('deaths').onchange(); $('run').click()`)
	b.Until(`trace.some(s => s.what === 'crashes') && trace.some(s => s.what === 'notices')`)

	// The network is cut: the player shows the sides, and what waits at the cut. Cut for ever, both sides learn of it.
	b.Eval(`$('deaths').checked = false; $('deaths').onchange(); $('network').value = 'heals'; $('network').onchange(); $('run').click()`)
	b.Until(`!$('run').disabled && trace.some(s => s.what === 'is cut off') && trace.some(s => s.what === 'is back') && $('found').className === 'good'`)
	b.Eval(`at = trace.findIndex(s => s.what === 'is back') - 1; step()`)
	b.Until(`/^rank \d\s*✂\s*rank \d/.test($('net').innerText) && $('net').getAttribute('aria-label').startsWith('The network is cut: rank')`)
	b.Shot("cut")
	b.Eval(`at = trace.length - 1; step()`)
	b.Until(`$('net').querySelectorAll('.cut').length === 0`)
	b.Eval(`$('network').value = 'severs'; $('network').onchange(); $('explore').click()`)
	b.Until(`!$('explore').disabled && $('found').className === 'good' && $('found').textContent.includes('in all schedules')`)
	b.Eval(`$('off').value = '2'; $('off').onchange(); $('run').click()`)
	b.Until(`trace.some(s => s.what === 'is cut off' && s.rank === 1 && s.value === 'for ever') && new Set(trace.filter(s => s.what === 'notices').map(s => s.rank)).size === 2`)

	// A link has all of it.
	link, _ := b.Eval(`share().then(() => location.href)`).(string)
	b.Show("about:blank")
	b.Show(link)
	b.Until(`begun && state.lock === 'mcs-flushed' && state.network === 'severs' && $('network').value === 'severs' && $('off').value === '2' && !$('lock').hidden`)
	b.Eval(`location.hash = encodeURIComponent('{"story":9}')`)
	b.Until(`state.story === 0 && !$('system').hidden`)

	phone := browser.Open(t, 390, 800)
	phone.Show("http://" + s.Address() + "/")
	phone.Until(`begun`)
	for story := range 4 {
		phone.Eval(`tell(` + string(rune('0'+story)) + `)`)
		if wide := phone.Eval(`document.documentElement.scrollWidth`).(float64); wide > 390 {
			t.Errorf("story %d is %v points wide, and the phone 390", story, wide)
		}
	}
	phone.Shot("phone")
}

// TestPlayMisused is what is wrong with a command line, before anything is built. A page that cannot be written is an error.
func TestPlayMisused(t *testing.T) {
	for args, want := range map[string]string{
		"play -listen nowhere":   "-listen is \"nowhere\": want HOST:PORT",
		"play -listen 0.0.0.0:1": "-listen is \"0.0.0.0:1\": without a cluster key",
		"play more":              "unexpected",
	} {
		if code, _, complaints := try(t, strings.Fields(args)...); code != command.Misused || !strings.Contains(complaints, want) {
			t.Errorf("orwl %s: exit code %d, %q, want %q", args, code, complaints, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	file := filepath.Join(t.TempDir(), "play.html")
	if code, _, complaints := try(t, "play", "-page", file); code != command.Failed || !strings.Contains(complaints, "there is no go command") {
		t.Errorf("without a go command: exit code %d, %q", code, complaints)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a page is written without a simulator")
	}
}
