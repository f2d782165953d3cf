package coherence

import "flag"

var rewrite = flag.Bool("coherence.rewrite", false, "write the transcripts anew")
