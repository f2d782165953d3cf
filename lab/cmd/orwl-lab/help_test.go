package main

import (
	"testing"

	"github.com/orwl/go-orwl/internal/command/commandtest"
)

func TestHelpPage(t *testing.T) {
	commandtest.Check(t, program, "../../docs/commands.md", "../../../docs/reference/commands.md")
	commandtest.Examples(t, program)
}
