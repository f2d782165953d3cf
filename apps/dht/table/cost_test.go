package table

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

// TestAllocates nothing in steady state, on the node that has the keys.
func TestAllocates(t *testing.T) {
	if invariant.Enabled {
		t.Skip("with asserts, and under the race detector, pools forget")
	}
	table := newStrings(t, Options{})[0]
	ops := []Op{
		{Kind: Set, Key: []byte("a"), Value: []byte("12")}, {Kind: Add, Key: []byte("a"), Number: 3}, {Kind: Get, Key: []byte("a")},
		{Kind: Set, Key: []byte("b"), Value: []byte("v"), Expires: 1 << 60}, {Kind: Expire, Key: []byte("b")}, {Kind: Delete, Key: []byte("b")},
		{Kind: Length, Key: []byte("a")}, {Kind: Exists, Key: []byte("c")},
	}
	results := make([]Result, len(ops))
	for name, do := range map[string]func(){
		"a batch": func() {
			for i := range results {
				results[i].Value = results[i].Value[:0]
			}
			table.Do(background, ops, results)
		},
		"each alone": func() {
			for i := range ops {
				results[i].Value = results[i].Value[:0]
				table.Do(background, ops[i:i+1], results[i:i+1])
			}
		},
	} {
		if n := testing.AllocsPerRun(200, do); n >= 1 { // a pool may be emptied
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestOptions names the field that is wrong, and what it may be.
func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"Options.Volumes is -1, want 1 to 65536": {Volumes: -1},
		"Options.Most is 1000":                   {Most: 1000},
		"Options.First is 8":                     {First: 8},
		"Options.First is 131072":                {First: 128 << 10, Most: 64 << 10},
		"Options.Port is 64, want 0 to 63":       {Port: 64},
		"`orwl locks` lists them":                {Guard: "none"},
	} {
		if _, err := NewStrings(background, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestWrongOps does what there is not. Others of the same Do are done.
func TestWrongOps(t *testing.T) {
	table := newStrings(t, Options{})[0]
	for _, wrong := range []Op{{}, {Kind: kindEnd}, {Kind: Set, If: conditionEnd}, {Kind: Set, Expires: -1},
		{Kind: Expire, If: Equal}, {Kind: Set, Later: true}, {Kind: Get, Sooner: true}} {
		if r := table.do(wrong); r.Err != ErrOp {
			t.Errorf("%+v: %v", wrong, r.Err)
		}
		ops := []Op{wrong, {Kind: Set, Key: []byte("k"), Value: []byte("v")}}
		results := make([]Result, 2)
		if table.Do(background, ops, results); results[0].Err != ErrOp || results[1].Err != nil {
			t.Errorf("%+v: %v, %v", wrong, results[0].Err, results[1].Err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("ops have too few results")
		}
	}()
	table.Do(background, make([]Op, 2), make([]Result, 1))
}
