package rma

import _ "github.com/orwl/go-orwl/locks"
