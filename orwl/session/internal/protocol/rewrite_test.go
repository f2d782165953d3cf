package protocol

import (
	"flag"

	"github.com/orwl/go-orwl/internal/rings"
)

var (
	rewrite = flag.Bool("session.rewrite", false, "write the transcripts anew")
	games   = rings.Seeds("session.games", 60, 3200, "TestGames: seeds; each event happens more than a hundred times in 60 games")
)
