package main

import (
	"syscall/js"

	"github.com/orwl/go-orwl/cmd/orwl/play"
)

// main gives the page an object orwl with functions, and stays. A call runs to its end before the page goes on.
func main() {
	var player *play.Player
	text := func(v js.Value, name string) string { return v.Get(name).String() }
	game := func(v js.Value) play.Game {
		return play.Game{Lock: text(v, "lock"), Ranks: v.Get("ranks").Int(), Acquisitions: v.Get("acquisitions").Int(), Deaths: v.Get("deaths").Int(), Network: play.Network(text(v, "network")), Off: v.Get("off").Int()}
	}
	all := map[string]func(args []js.Value) any{
		"check": func(args []js.Value) any { return play.Check(args[0].String()) },
		"begin": func(args []js.Value) any {
			p, bad := play.NewPlayer(args[0].String())
			if player = p; bad != nil {
				return bad
			}
			return p.State()
		},
		"step": func(args []js.Value) any {
			player.Step(args[0].Int())
			return player.State()
		},
		"locks":   func([]js.Value) any { return play.Locks() },
		"explore": func(args []js.Value) any { return play.Explore(game(args[0])) },
		"run":     func(args []js.Value) any { return play.Run(game(args[0]), uint64(args[0].Get("seed").Float())) },
	}
	functions := make(map[string]any, len(all))
	for name, do := range all {
		functions[name] = js.FuncOf(func(_ js.Value, args []js.Value) any { return js.ValueOf(do(args)) })
	}
	js.Global().Set("orwl", functions)
	js.Global().Call("ready")
	select {}
}
