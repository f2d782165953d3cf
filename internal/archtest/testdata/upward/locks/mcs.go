package locks

import (
	_ "github.com/orwl/go-orwl/net/mem"
	_ "github.com/orwl/go-orwl/net/rma"
)
