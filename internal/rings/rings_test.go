package rings

import (
	"flag"
	"fmt"
	"slices"
	"testing"
)

// skipped reports whether a test that begins with a call is skipped.
func skipped(t *testing.T, call func(testing.TB)) (is bool) {
	t.Run("inner", func(t *testing.T) {
		defer func() { is = t.Skipped() }()
		call(t)
	})
	return is
}

// A test that computes is skipped in a run that repeats, and in no other.
func TestComputes(t *testing.T) {
	for value, want := range map[string]bool{"": Race, "1": true} {
		t.Setenv(Repeats, value)
		if got := skipped(t, Computes); got != want {
			t.Errorf("with %s=%q a test is skipped: %t, want %t", Repeats, value, got, want)
		}
	}
}

// A costly test is skipped in a run that takes a sample, and in no other.
func TestCostly(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": true} {
		t.Setenv(Sample, value)
		if got := skipped(t, Costly); got != want {
			t.Errorf("with %s=%q a costly test is skipped: %t, want %t", Sample, value, got, want)
		}
	}
}

// A run that takes a sample plays fewer cases of rapid.
func TestFewChecks(t *testing.T) {
	for value, want := range map[string]string{"": "100", "1": "20"} {
		t.Setenv(Sample, value)
		set := ringFlags(t, func() {
			flag.Int("rapid.checks", 100, "")
			FewChecks()
		})
		if got := set.Lookup("rapid.checks").Value.String(); got != want {
			t.Errorf("with %s=%q rapid plays %s cases, want %s", Sample, value, got, want)
		}
	}
}

// A test of silence runs where the variable says that it is alone.
func TestSilence(t *testing.T) {
	for value, want := range map[string]bool{"": true, "1": false} {
		t.Setenv(Alone, value)
		if got := skipped(t, Silence); got != want {
			t.Errorf("with %s=%q a test of silence is skipped: %t, want %t", Alone, value, got, want)
		}
	}
}

// A test runs in its ring and in those outside.
func TestNeeds(t *testing.T) {
	for now, name := range names {
		t.Setenv(Variable, name)
		if Now() != Ring(now) {
			t.Errorf("%q is ring %d, want %d", name, Now(), now)
		}
		for needs := range Night + 1 {
			got, want := skipped(t, func(t testing.TB) { Needs(t, needs) }), Ring(now) < needs
			if got != want {
				t.Errorf("in ring %q a test of ring %q is skipped: %t, want %t", name, needs, got, want)
			}
		}
		if got := Of("", "change", "night"); got != name {
			t.Errorf("in ring %q Of gives %q", name, got)
		}
	}
}

func panics(f func()) (does bool) {
	defer func() { does = recover() != nil }()
	f()
	return false
}

func TestBadVariables(t *testing.T) {
	t.Setenv(Variable, "nightly")
	if !panics(func() { Now() }) {
		t.Error("an unknown ring is accepted")
	}
	t.Setenv(Variable, "change")
	for _, text := range []string{"16/16", "-1/2", "1", "0/0", "x/2"} {
		t.Setenv(Share, text)
		if !panics(func() { share(8) }) {
			t.Errorf("the share %q is accepted", text)
		}
	}
}

// ringFlags makes flags in a set of this test.
func ringFlags(t *testing.T, make func()) *flag.FlagSet {
	t.Helper()
	old := flag.CommandLine
	defer func() { flag.CommandLine = old }()
	flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError)
	make()
	return flag.CommandLine
}

// Users play the first seeds, and all shares together are what the nightly plays.
func TestSeeds(t *testing.T) {
	var r *Range
	set := ringFlags(t, func() { r = Seeds("seeds", 3, 50, "seeds") })
	if got := slices.Collect(r.All()); !slices.Equal(got, []uint64{0, 1, 2}) {
		t.Errorf("users play %v", got)
	}
	t.Setenv(Variable, "night")
	night := slices.Collect(r.All())
	if len(night) != 50 {
		t.Errorf("the nightly plays %v", night)
	}
	t.Setenv(Variable, "change")
	var shares []uint64
	for _, share := range []string{"0/4", "1/4", "2/4", "3/4"} {
		t.Setenv(Share, share)
		played := slices.Collect(r.All())
		if len(played) < 12 {
			t.Errorf("share %s is %v", share, played)
		}
		shares = append(shares, played...)
	}
	if !slices.Equal(shares, night) {
		t.Errorf("all shares are %v, and the nightly is %v", shares, night)
	}
	if got := slices.Collect(r.Part(1, 4)); !slices.Equal(got, []uint64{37, 38, 39}) {
		t.Errorf("a quarter of the last share is %v", got)
	}
	for text, want := range map[string][]uint64{"2": {0, 1}, "7+2": {7, 8}} {
		if err := set.Set("seeds", text); err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(r.All()); !slices.Equal(got, want) {
			t.Errorf("-seeds %s plays %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1+x", "-1+2"} {
		if set.Set("seeds", text) == nil {
			t.Errorf("-seeds %q is accepted", text)
		}
	}
}

// All changes together take each case, and users and the nightly take all.
func TestTakes(t *testing.T) {
	for ring, want := range map[string]int{"": 16, "change": 4, "night": 16} {
		t.Setenv(Variable, ring)
		for i := range 10 {
			got := 0
			for k := range 16 {
				t.Setenv(Share, fmt.Sprintf("%d/16", k))
				if Takes(i, 4) {
					got++
				}
			}
			if got != want {
				t.Errorf("in ring %q %d of 16 shares take case %d, want %d", ring, got, i, want)
			}
		}
	}
}

func TestSize(t *testing.T) {
	var b *Budget
	set := ringFlags(t, func() { b = Size("states", 5, 50, 0, "states") })
	for name, want := range map[string]int{"": 5, "change": 50, "night": 0} {
		t.Setenv(Variable, name)
		if b.N() != want {
			t.Errorf("in ring %q the budget is %d, want %d", name, b.N(), want)
		}
	}
	if err := set.Set("states", "0"); err != nil || b.N() != 0 || set.Set("states", "x") == nil {
		t.Errorf("-states 0 gives %d, %v", b.N(), err)
	}
}

// Source looks at the files of all packages.
func TestSource(t *testing.T) { Source(t) }
