package resource

import "flag"

var rewrite = flag.Bool("resource.rewrite", false, "write the transcripts anew")
