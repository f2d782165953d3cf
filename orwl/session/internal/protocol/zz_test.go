package protocol
import "testing"
func TestZZ(t *testing.T) {
	for name, f := range map[string]flaws{ "hopes": {hopes: true},
		"a client that lets go late":         {late: gameSkew}} {
	n, first := 0, 0
	for seed := uint64(0); seed < 1000; seed++ {
		if err := newGame(seed, f).whole(); err != nil { if n == 0 {first = int(seed); t.Log(name, seed, err)}; n++ }
	}
	t.Log(name, n, "of 1000, first", first)
	}
}
