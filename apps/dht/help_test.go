package main

import (
	"io"
	"testing"

	"github.com/orwl/go-orwl/internal/command/commandtest"
)

func TestHelpPage(t *testing.T) {
	commandtest.Check(t, itself(io.Discard), "../../docs/reference/commands.md")
}
