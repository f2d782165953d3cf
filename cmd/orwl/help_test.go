package main

import (
	"testing"

	"github.com/orwl/go-orwl/internal/command/commandtest"
)

func TestHelpPage(t *testing.T) {
	t.Setenv(addressVariable, "") // is in the help of -at
	commandtest.Check(t, program, "../../docs/reference/commands.md")
	commandtest.Examples(t, program)
}
