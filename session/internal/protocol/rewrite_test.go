package protocol

import "flag"

var rewrite = flag.Bool("session.rewrite", false, "write the transcripts anew")
