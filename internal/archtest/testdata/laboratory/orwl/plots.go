package orwl

import _ "github.com/orwl/go-orwl/lab/report"
