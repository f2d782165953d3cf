package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/google/renameio/v2/maybe"
)

// wholeFile writes the file that a flag names: whole, or not at all. It writes nothing if the flag
// was not given.
func wholeFile(flag, name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var text bytes.Buffer
	err := write(&text)
	if err == nil {
		err = maybe.WriteFile(name, text.Bytes(), 0o666)
	}
	if err != nil {
		return fmt.Errorf("-%s: %w", flag, err)
	}
	return nil
}
