package lab

import (
	_ "github.com/orwl/go-orwl/lab/report"
	_ "github.com/orwl/go-orwl/locks"
)

func start(f func()) { go f() }
