package ending

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
)

var errLoss, errOther = errors.New("loss"), errors.New("other")

// TestReason has what other nodes do come before and after the run begins. told is what ends it.
func TestReason(t *testing.T) {
	end := func(why error) func(r *Reason) { return func(r *Reason) { r.End(why) } }
	for name, c := range map[string]struct {
		before, after []func(r *Reason)
		told          []error
		why           error
	}{
		"nothing":              {},
		"a loss, then the run": {before: []func(*Reason){end(errLoss), end(errOther)}, told: []error{errLoss}, why: errLoss},
		"a loss in the run":    {after: []func(*Reason){end(errLoss), end(errOther)}, told: []error{errLoss, errOther}, why: errLoss},
	} {
		var f Reason
		var told []error
		for _, event := range c.before {
			event(&f)
		}
		f.Begin(func(why error) { told = append(told, why) })
		for _, event := range c.after {
			event(&f)
		}
		same := len(told) == len(c.told)
		for i := range told {
			same = same && told[i] == c.told[i]
		}
		if !same || f.Why() != c.why {
			t.Errorf("%s: told %v, why %v, want %v, %v", name, told, f.Why(), c.told, c.why)
		}
	}
}

// The log says the end of many grants once for each node, and only once.
func TestEndings(t *testing.T) {
	r, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	var e Endings
	for _, node := range []queue.Node{1, 2, 1} {
		e.Note(queue.Ending{Resource: r, Node: node, Grants: 2, Why: errLoss})
	}
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	e.Say(log)
	e.Say(log)
	text := out.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "peer=1 resources=2 grants=4 resource=r") || !strings.Contains(text, "peer=2 resources=1 grants=2") {
		t.Errorf("the log says:\n%s", text)
	}
}

// An ending at the home of a resource has no reason of its own. The log names none then.
func TestEndingWithoutReason(t *testing.T) {
	r, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	for want, why := range map[string]error{" fence=7\n": nil, " fence=7 why=loss\n": errLoss} {
		var e Endings
		e.Note(queue.Ending{Resource: r, Node: 1, Grants: 1, Fence: 7, Why: why})
		var out bytes.Buffer
		e.Say(slog.New(slog.NewTextHandler(&out, nil)))
		if !strings.HasSuffix(out.String(), want) {
			t.Errorf("an ending because of %v: the log says %q, want %q at its end", why, out.String(), want)
		}
	}
}
