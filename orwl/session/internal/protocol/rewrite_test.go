package protocol

import "flag"

var (
	rewrite = flag.Bool("session.rewrite", false, "write the transcripts anew")
	games   = flag.Uint64("session.games", 60, "play so many games")
)
