//go:build unix

package watch

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// browser is a Chromium that a test drives, by two pipes: messages are JSON, and end with a zero byte.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	number  int
	session string
}

// opens starts a browser with a window, or skips the test if there is none.
func opens(t *testing.T, width, height int) *browser {
	t.Helper()
	name := ""
	for _, known := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(known); err == nil {
			name = found
			break
		}
	}
	if name == "" {
		t.Skip("there is no Chromium: apt-get install chromium-headless-shell")
	}
	inR, inW, err := os.Pipe()
	outR, outW, err2 := os.Pipe()
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, name, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--no-first-run", "--user-data-dir="+dir, fmt.Sprintf("--window-size=%d,%d", width, height), "about:blank")
	cmd.ExtraFiles = []*os.File{inR, outW}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	b := &browser{t: t, to: inW, from: bufio.NewReader(outR)}
	t.Cleanup(func() {
		_, _ = b.try("", "Browser.close", nil)
		cancel()
		_ = cmd.Wait()
		inW.Close()
		outR.Close()
		_ = os.RemoveAll(dir) // its helpers may still end
	})
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank", "width": width, "height": height})
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})["sessionId"].(string)
	b.call("Page.enable", nil)
	b.call("Runtime.enable", nil)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	return b
}

// try calls a method, and waits for its answer.
func (b *browser) try(session, method string, params map[string]any) (map[string]any, error) {
	b.number++
	m := map[string]any{"id": b.number, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		return nil, err
	}
	for {
		text, err := b.from.ReadBytes(0)
		if err != nil {
			return nil, err
		}
		var answer struct {
			ID     int            `json:"id"`
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
			Result map[string]any `json:"result"`
			Error  any            `json:"error"`
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			return nil, err
		}
		switch {
		case answer.Method == "Runtime.exceptionThrown":
			b.t.Errorf("the page fails: %v", answer.Params)
		case answer.ID == b.number && answer.Error != nil:
			return nil, fmt.Errorf("%s: %v", method, answer.Error)
		case answer.ID == b.number:
			return answer.Result, nil
		}
	}
}

func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	r, err := b.try(b.session, method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// eval is the value of an expression in the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	r := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true})
	if r["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expression, r["exceptionDetails"])
	}
	return r["result"].(map[string]any)["value"]
}

// until waits until an expression holds in the page: it is asked for each frame.
func (b *browser) until(expression string) {
	b.t.Helper()
	held := b.eval(`new Promise(done => { const end = Date.now() + 30e3; const look = () => { if (` + expression + `) done(true); else if (Date.now() > end) done(false); else setTimeout(look, 20) }; look() })`)
	if held != true {
		b.shot("failed")
		b.t.Fatalf("in 30 s this does not hold: %s\n%v", expression, b.eval(`document.body.innerText`))
	}
}

// key presses a key.
func (b *browser) key(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "text": map[bool]string{true: key}[len(key) == 1 && kind == "keyDown"]})
	}
}

// shot keeps a picture of the page in the folder ORWL_SHOTS, if that is set.
func (b *browser) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("ORWL_SHOTS")
	if dir == "" {
		return
	}
	b.eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`)
	png, err := base64.StdEncoding.DecodeString(b.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// opened opens the page of planted runs: next is called for each look.
func opened(t *testing.T, width, height int, next func() inspect.Run) *browser {
	t.Helper()
	p := New(func() *orwl.Runtime { return nil })
	p.ask = func(context.Context) (inspect.Run, bool) { return next(), true }
	return show(t, p, width, height)
}

func show(t *testing.T, p *Page, width, height int) *browser {
	t.Helper()
	b := opens(t, width, height)
	mux := http.NewServeMux()
	p.Register(mux)
	s, err := port.Serve(t.Context(), port.Options{Address: "127.0.0.1:0", Handler: mux, Closing: p.Close})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b.call("Page.navigate", map[string]any{"url": "http://" + s.Address() + "/"})
	b.until(`typeof looks === 'object' && looks.length > 1`)
	return b
}

// The page names the culprit of a hang, and the keys lead there.
func TestPageOfAHang(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := opened(t, 1280, 800, func() inspect.Run { return ring(false) })
	b.until(`$('verdict').className === 'stands' && $('text').textContent.includes('node 2 (process 4713 on host2): task south works in round 7 for 4.2s, at main.relax (halo.go:42, chan receive), and holds edge 2; 2 tasks wait for it')`)
	b.eval(`$('tasks').focus()`)
	b.key("ArrowDown")
	b.until(`chosen === 'north'`)
	b.until(`$('why').innerText.replace(/\s+/g, ' ').includes('north (node 0) waits for its turn to read edge 1, for 4.2 s middle (node 1) waits for its turn to read edge 2, for 4.2 s south (node 2) computes, in round 7')`)
	b.until(`$('why').innerText.includes('All of them wait for the last one.')`)
	b.shot("hang")
	b.key("Enter")
	b.until(`chosen === 'middle'`)
	b.key("c")
	b.until(`chosen === 'south' && $('why').innerText.includes('2 tasks wait for south.')`)
	b.key("Escape")
	b.until(`chosen === null`)
	b.key(" ")
	b.until(`at >= 0 && $('pause').textContent === 'Go on'`)
	b.eval(`window.was = at`)
	b.key("[")
	b.until(`at === Math.max(0, was - 1)`)
	b.key("]")
	b.until(`at === was`)
	b.eval(`window.moment = shown().at`)
	b.key(" ")
	b.until(`at < 0`)
	b.key("t")
	b.until(`document.documentElement.dataset.theme === 'dark'`)
	b.shot("dark")
	b.key("?")
	b.until(`$('keys').open`)
	b.eval(`$('keys').close()`)
	// A link to a moment shows it, and its task.
	b.eval(`window.link = '/#at=' + moment + '&task=north'; location.hash = link.slice(1); openLink()`)
	b.until(`at >= 0 && shown().at === moment && chosen === 'north'`)
	b.eval(`location.hash = '#at=1'; openLink()`)
	b.until(`$('head').textContent.includes('is gone')`)
}

// The page names a node that does not answer, and keeps its tasks.
func TestPageOfASilentNode(t *testing.T) {
	rings.Needs(t, rings.Change)
	looked := 0
	b := opened(t, 1280, 800, func() inspect.Run { looked++; return ring(looked > 3) })
	b.until(`$('text').textContent.includes('node 2 (process 4713 on host2) does not answer for 4.2s; 2 tasks wait for it')`)
	b.until(`shown().count.x === 1 && numberOf(shown(), 'south') >= 0`)
	b.eval(`choose('north')`)
	b.until(`$('why').innerText.includes('node 2')`)
	b.shot("silent")
}

// The page is readable on a phone.
func TestPageOnAPhone(t *testing.T) {
	rings.Needs(t, rings.Change)
	b := opened(t, 390, 800, func() inspect.Run { return ring(false) })
	b.until(`$('verdict').className === 'stands'`)
	b.eval(`choose('north')`)
	b.until(`$('why').innerText.includes('south')`)
	if wide := b.eval(`document.documentElement.scrollWidth`).(float64); wide > 390 {
		t.Errorf("the page is %v points wide, and the phone 390", wide)
	}
	b.shot("phone")
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
	b.until(`shown().states.length === 4032 && tiles.length === 64 && cells.filter(c => c).length === 4032`)
	b.until(`looks.length > 4 && !$('sentbox').hidden`)
	ms := b.eval(`(() => { const t = performance.now(); for (let k = 0; k < 10; k++) draw(); return (performance.now() - t) / 10 })()`)
	t.Logf("a look is drawn in %.1f ms", ms)
	b.eval(`choose('block 5,9')`)
	b.shot("many")
	b.key("w")
	b.until(`wave && $('note').textContent.includes('Dark is behind')`)
	b.shot("rounds")
}
