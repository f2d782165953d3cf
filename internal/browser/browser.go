package browser

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Browser is a Chromium that a test drives, by two pipes: messages are JSON, and end with a zero byte.
type Browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	number  int
	session string
}

// Open starts a browser with a window, or skips the test if there is none.
func Open(t *testing.T, width, height int) *Browser {
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
	b := &Browser{t: t, to: inW, from: bufio.NewReader(outR)}
	t.Cleanup(func() {
		_, _ = b.try("", "Browser.close", nil)
		cancel()
		_ = cmd.Wait()
		inW.Close()
		outR.Close()
		_ = os.RemoveAll(dir) // its helpers may still end
	})
	target := b.Call("Target.createTarget", map[string]any{"url": "about:blank", "width": width, "height": height})
	b.session = b.Call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})["sessionId"].(string)
	b.Call("Page.enable", nil)
	b.Call("Runtime.enable", nil)
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	return b
}

// try calls a method, and waits for its answer.
func (b *Browser) try(session, method string, params map[string]any) (map[string]any, error) {
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

// Call calls a method of the page, and waits for its answer.
func (b *Browser) Call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	r, err := b.try(b.session, method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// Show opens a page, and waits until it is read.
func (b *Browser) Show(url string) {
	b.t.Helper()
	b.Call("Page.navigate", map[string]any{"url": url})
	b.Until(`document.body && document.readyState !== 'loading'`)
}

// Eval is the value of an expression in the page.
func (b *Browser) Eval(expression string) any {
	b.t.Helper()
	r := b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true})
	if r["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expression, r["exceptionDetails"])
	}
	return r["result"].(map[string]any)["value"]
}

// Until waits until an expression holds in the page: it is asked for each frame.
func (b *Browser) Until(expression string) {
	b.t.Helper()
	held := b.Eval(`new Promise(done => { const overAt = Date.now() + 30e3; const look = () => { if (` + expression + `) done(true); else if (Date.now() > overAt) done(false); else setTimeout(look, 20) }; look() })`)
	if held != true {
		b.Shot("failed")
		b.t.Fatalf("in 30 s this does not hold: %s\n%v", expression, b.Eval(`document.body.innerText`))
	}
}

// Key presses a key.
func (b *Browser) Key(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "text": map[bool]string{true: key}[len(key) == 1 && kind == "keyDown"]})
	}
}

// Click clicks at a point of the window.
func (b *Browser) Click(x, y float64) {
	b.t.Helper()
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
	}
}

// Shot keeps a picture of the page in the folder ORWL_SHOTS, if that is set.
func (b *Browser) Shot(name string) {
	b.t.Helper()
	dir := os.Getenv("ORWL_SHOTS")
	if dir == "" {
		return
	}
	b.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`)
	png, err := base64.StdEncoding.DecodeString(b.Call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), png, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
