package main

import (
	"testing"

	"github.com/orwl/go-orwl/internal/command/commandtest"
)

func TestHelpPage(t *testing.T) { commandtest.Check(t, itself, "../../docs/reference/commands.md") }
